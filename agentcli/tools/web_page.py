"""One page from the web: bounded in size and time, redirects to other hosts not followed."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import IO
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from agentcli.errors import ToolError
from agentcli.hosts import host_of, is_local
from agentcli.tools.html_text import html_to_text

SECONDS = 30.0
MAX_BYTES = 5_000_000
REDIRECTS = 5
_CHUNK = 65_536
_AS_IT_IS = "%/:=&?~#+!$,;'@()*[]"
"""What stands in an address besides letters and digits; anything else is percent-encoded."""
_HEADERS = {
    "User-Agent": "agentcli (coding agent; reads pages on behalf of its user)",
    "Accept": "text/html,text/*;q=0.9,*/*;q=0.5",
}
_TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "application/x-yaml")


@dataclass(frozen=True, slots=True)
class Page:
    """``text`` is readable; ``moved`` is the address on another host that it was moved to (then there is no text);
    ``cut`` says that more was there than is read."""

    url: str
    text: str = ""
    moved: str = ""
    cut: bool = False


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def checked_url(url: str) -> str:
    """The address as it is asked for: ``http`` becomes ``https`` but for addresses of this network.  ``ToolError`` for
    anything that is none."""
    host = host_of(url)
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise ToolError(f"{url!r} is no web address. Give a whole one: https://host/path")
    if parts.username or parts.password:
        raise ToolError("An address with a name or password in it is not fetched. Leave them out.")
    scheme = parts.scheme if is_local(host) else "https"
    place = f"[{host}]" if ":" in host else host
    path, query = (quote(part, safe=_AS_IT_IS) for part in (parts.path or "/", parts.query))
    return urlunsplit((scheme, place + port, path, query, ""))


def read_page(url: str, stop: threading.Event) -> Page:
    """Fetches and reads the page.  Blocking; ``stop`` ends it between two pieces, as they arrive.  ``ToolError`` names
    what failed."""
    opener = urllib.request.build_opener(_NoRedirects)
    here = url
    for _ in range(REDIRECTS + 1):
        request = urllib.request.Request(here, headers=_HEADERS)
        try:
            with opener.open(request, timeout=SECONDS) as response:
                return _read(response, here, stop)
        except urllib.error.HTTPError as error:
            target = error.headers.get("Location") if 300 <= error.code < 400 else None
            error.close()
            if target is None:
                raise ToolError(f"{here} answers {error.code} {error.reason}.") from error
            there = urljoin(here, _told(target))
            if host_of(there) != host_of(here):
                return Page(url, moved=there)
            here = checked_url(there)
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise ToolError(f"{here} can't be read: {reason}.") from error
    raise ToolError(f"{url} redirects more than {REDIRECTS} times.")


def _told(location: str) -> str:
    """The header as its server meant it: UTF-8 arrives as if it were Latin-1."""
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return location


def _read(response: object, url: str, stop: threading.Event) -> Page:
    headers: Message = response.headers  # type: ignore[attr-defined]  # an HTTPResponse; its type differs by opener
    kind = headers.get_content_type()
    if not kind.startswith(_TEXTUAL) and not kind.endswith(("+json", "+xml")):
        raise ToolError(f"{url} is {kind}, not text. Download it with Bash (curl) where you need it.")
    data = bytearray()
    while len(data) <= MAX_BYTES and not stop.is_set():
        piece = response.read1(_CHUNK)  # type: ignore[attr-defined]  # as above
        if not piece:
            break
        data += piece
    cut = len(data) > MAX_BYTES
    charset = headers.get_content_charset() or "utf-8"
    try:
        text = bytes(data[:MAX_BYTES]).decode(charset, "replace")
    except LookupError:  # a name that is no encoding
        text = bytes(data[:MAX_BYTES]).decode("utf-8", "replace")
    return Page(url, html_to_text(text, base=url) if kind in ("text/html", "application/xhtml+xml") else text, cut=cut)
