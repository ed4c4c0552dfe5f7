"""A valid base request and small media files for the server's own tests."""

from __future__ import annotations

import base64
import copy
import http.client
import json
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from tests.api.server import ApiServer

Json = dict[str, Any]
Change = Callable[[Json], object]
"""One mutation of a request."""
MODEL = "claude-opus-5-5"
HEADERS = {
    "content-type": "application/json",
    "x-api-key": ApiServer.key,
    "anthropic-version": "2026-10-21",
}


def png(width: int, height: int, *, size: int = 0) -> str:
    """A base64 PNG with these dimensions in its header, filled up to ``size`` bytes."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    body = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 31)) + chunk(b"IEND", b"")
    return base64.b64encode(body + b"\0" * max(0, size - len(body))).decode()


def image(data: str, media_type: str = "image/png") -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def tool(name: str, **more: Any) -> Json:
    schema = {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}
    return {"name": name, "description": f"{name} things", "input_schema": schema, **more}


def call(id: str, name: str = "Read") -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": {"file_path": "a"}}


def result(id: str, content: Any = "ok", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def said(value: str, **more: Any) -> Json:
    return {"type": "text", "text": value, **more}


_BASE: Json = {
    "model": MODEL,
    "max_tokens": 1000,
    "system": [said("You are a test.")],
    "tools": [tool("Read"), tool("Write"), tool("mcp__x__y", defer_loading=True)],
    "messages": [
        {"role": "user", "content": [said("please read")]},
        {"role": "assistant", "content": [said("I read."), call("toolu_1"), call("toolu_2")]},
        {"role": "user", "content": [result("toolu_1"), result("toolu_2", [said("two")]), said("go on")]},
    ],
}


def base() -> Json:
    """A valid request with tools, calls and results; a new copy each time."""
    return copy.deepcopy(_BASE)


def post(
    api: ApiServer,
    body: Json | bytes,
    *,
    path: str = "/v1/messages",
    headers: Mapping[str, str | None] | None = None,
) -> tuple[int, Json]:
    """Sends a request; a header that is ``None`` is left out.  Returns status and parsed body."""
    sent = {k: v for k, v in {**HEADERS, **(headers or {})}.items() if v is not None}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=20)
    try:
        connection.request("POST", path, raw, sent)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def put(path: str, value: Any) -> Change:
    """Sets the value at a dotted path; ``put("a.-", v)`` appends, ``...`` deletes."""

    def change(body: Json) -> None:
        at: Any = body
        *parents, last = path.split(".")
        for name in parents:
            at = at[int(name)] if isinstance(at, list) else at[name]
        if value is ...:
            del at[int(last) if isinstance(at, list) else last]
        elif last == "-":
            at.append(value)
        elif isinstance(at, list):
            at[int(last)] = value
        else:
            at[last] = value

    return change


def all_of(*changes: Change) -> Change:
    return lambda body: [c(body) for c in changes]


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def fresh(*messages: Json) -> Change:
    return put("messages", list(messages))
