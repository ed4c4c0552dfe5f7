"""Hooks of type ``http``: the event is posted as JSON, the answer's body is what a command would print.

One plain request over a connection of its own, so that cancelling closes it at once.  Redirects are not followed: an
address that was allowed must not lead to another.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from http.client import parse_headers
from io import BytesIO
from urllib.parse import SplitResult, urlsplit

from agentcli.errors import UserError
from agentcli.extend.hooks.config import Handler

LONGEST = 1024 * 1024
"""Bytes of an answer that are read."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


async def post(handler: Handler, payload: str, environment: Mapping[str, str]) -> tuple[int, str, bool]:
    """(status, body, whether it was cut).  ``OSError`` where the server can't be reached, ``UserError`` for an address
    or an answer that is none."""
    url = _address(handler)
    head = _head(handler, url, len(payload.encode()), environment)
    port = url.port or (443 if url.scheme == "https" else 80)
    reader, writer = await asyncio.open_connection(url.hostname, port, ssl=True if url.scheme == "https" else None)
    try:
        writer.write(head + payload.encode())
        await writer.drain()
        answer = bytearray()
        while len(answer) <= LONGEST and (data := await reader.read(65_536)):
            answer += data
            if _whole(bytes(answer)):
                break
    finally:
        writer.close()
    return _read(bytes(answer))


def _address(handler: Handler) -> SplitResult:
    try:
        url = urlsplit(handler.text)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UserError("the address must be http://… or https://…")
    if handler.allowed_urls is not None and not any(fnmatchcase(handler.text, p) for p in handler.allowed_urls):
        raise UserError("allowedHttpHookUrls in the settings does not allow this address")
    return url


def _head(handler: Handler, url: SplitResult, length: int, environment: Mapping[str, str]) -> bytes:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return environment.get(name, "") if name in handler.allowed_variables else ""

    own = {
        "Host": url.netloc.rpartition("@")[2],
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Accept": "application/json",
        "Connection": "close",
    }
    given = {name: _VARIABLE.sub(value, text) for name, text in handler.headers if name.title() not in own}
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {text}" for name, text in {**own, **given}.items())]
    if any(c in line for line in lines for c in "\r\n\0") or " " in target:
        raise UserError("the address or a header holds a line break or a blank")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")


def _whole(answer: bytes) -> bool:
    """Whether the body is there as long as its header says."""
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    length = re.search(rb"\r\ncontent-length:[ \t]*(\d{1,15})", head, re.IGNORECASE)
    if length is not None:
        return len(body) >= int(length[1])
    return b"chunked" in head.lower() and body.endswith(b"0\r\n\r\n")


def _read(answer: bytes) -> tuple[int, str, bool]:
    head, found, body = answer.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    if status is None or not found:
        raise UserError("the answer is not HTTP")
    headers = parse_headers(BytesIO(head.partition(b"\r\n")[2] + b"\r\n\r\n"))
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        body = _joined(body)
    return int(status[1]), body[:LONGEST].decode("utf-8", "replace"), len(answer) > LONGEST


def _joined(body: bytes) -> bytes:
    """Chunks as one text, as far as they go."""
    whole = bytearray()
    while body:
        size, found, body = body.partition(b"\r\n")
        try:
            length = int(size.split(b";")[0], 16)
        except ValueError:
            break
        if not found or length <= 0:
            break
        whole += body[:length]
        body = body[length + 2 :]
    return bytes(whole)
