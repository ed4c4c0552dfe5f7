"""HTML as readable text: headings, lists, links, code; without scripts, styles and navigation."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "nav", "iframe", "head", "form"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "ul", "ol", "table", "tr", "blockquote", "dl", "dd"}
    | {"dt", "figure", "figcaption", "details", "summary", "hr", "address", "aside"}
)
_HEADINGS = {f"h{n}": "#" * n for n in range(1, 7)}
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._base = base
        self._parts: list[str] = []
        self._skipping: list[str] = []
        self._pre = 0
        self._in_title = False
        self._link = ""

    @property
    def text(self) -> str:
        lines = [line.rstrip() for line in "".join(self._parts).split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        if self._skipping or tag in _SKIPPED:
            if tag not in _VOID:
                self._skipping.append(tag)
            return
        if tag in _HEADINGS:
            self._break(2)
            self._parts.append(f"{_HEADINGS[tag]} ")
        elif tag == "li":
            self._break(1)
            self._parts.append("- ")
        elif tag == "pre":
            self._break(2)
            self._parts.append("```\n")
            self._pre += 1
        elif tag == "br":
            self._break(1)
        elif tag in ("td", "th"):
            self._parts.append(" | ")
        elif tag == "code" and not self._pre:
            self._parts.append("`")
        elif tag == "a":
            self._link = dict(attrs).get("href") or ""
        elif tag in _BLOCKS:
            self._break(2 if tag == "p" else 1)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipping:
            if tag in self._skipping:  # an element that was not closed ends with the one around it
                del self._skipping[len(self._skipping) - 1 - self._skipping[::-1].index(tag) :]
            return
        if tag == "pre" and self._pre:
            self._pre -= 1
            self._break(1)
            self._parts.append("```\n\n")
        elif tag == "code" and not self._pre:
            self._parts.append("`")
        elif tag == "a" and self._link:
            if not self._link.startswith(("#", "javascript:")):
                self._parts.append(f" ({urljoin(self._base, self._link)})")
            self._link = ""
        elif tag in _HEADINGS or tag == "p":
            self._break(2)
        elif tag in _BLOCKS:
            self._break(1)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skipping:
            self._parts.append(data if self._pre else self._flowing(data))

    def _flowing(self, data: str) -> str:
        flat = re.sub(r"\s+", " ", data)
        ends_line = not self._parts or self._parts[-1].endswith(("\n", " "))
        return flat.lstrip() if ends_line else flat

    def _break(self, lines: int) -> None:
        self._parts.append("\n" * lines)


def html_to_text(html: str, *, base: str = "") -> str:
    """The page's text; links are made absolute against ``base``.  Never fails, whatever the markup."""
    reader = _Reader(base)
    reader.feed(html)
    reader.close()
    title = " ".join(reader.title.split())
    return f"{title}\n\n{reader.text}".strip() if title else reader.text
