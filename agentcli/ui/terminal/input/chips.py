"""Stand-ins for long pastes and images in the input line.

In the buffer a chip is one character of the private use area, so that the caret passes it in one step and deleting it
deletes the content; on the screen it reads ``[Pasted text #1, 214 lines]``.  Text that merely looks like a chip is
text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from agentcli.i18n import Texts
from agentcli.messages import Block
from agentcli.text import plural

FIRST, LAST = 0x100000, 0x10FFFD
LONG_LINES = 10
LONG_CHARACTERS = 1_000
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chip:
    """``text`` is what it stands for; an image has a ``block`` instead."""

    number: int
    text: str = ""
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class Expanded:
    """The input with every chip replaced.  ``spans`` are the pasted parts of ``text``, for the history."""

    text: str
    attachments: tuple[Block, ...]
    spans: tuple[Span, ...]


class Chips:
    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._chips: dict[str, Chip] = {}
        self._pasted = 0
        self._images = 0

    def pasted(self, text: str) -> str:
        """What to insert for pasted text: a chip for a long one (and for one with characters that chips use)."""
        lines = text.count("\n") + 1
        reserved = any(FIRST <= ord(c) <= LAST for c in text) if not text.isascii() else False
        if not (reserved or lines > LONG_LINES or len(text) > LONG_CHARACTERS):
            return text
        self._pasted += 1
        return self._add(Chip(self._pasted, text))

    def next_message(self) -> None:
        """Numbers begin at 1 again; the chips of earlier messages stay known."""
        self._pasted = self._images = 0

    def image(self, block: Block) -> str:
        self._images += 1
        return self._add(Chip(self._images, block=block))

    def _add(self, chip: Chip) -> str:
        mark = chr(FIRST + len(self._chips) % (LAST - FIRST + 1))
        self._chips[mark] = chip
        return mark

    def get(self, character: str) -> Chip | None:
        return self._chips.get(character)

    def label(self, chip: Chip) -> str:
        if chip.block is not None:
            return f"[{self._texts('chip.image', number=chip.number)}]"
        size = plural(chip.text.count("\n") + 1, "line")
        if self._texts.language != "en":
            size = self._texts("chip.lines", count=chip.text.count("\n") + 1)
        return f"[{self._texts('chip.pasted', number=chip.number)}, {size}]"

    def shown(self, text: str) -> str:
        """The text as it reads on the screen."""
        if text.isascii():
            return text
        return "".join(self.label(self._chips[c]) if c in self._chips else c for c in text)

    def expand(self, text: str) -> Expanded:
        out: list[str] = []
        spans: list[Span] = []
        blocks: list[Block] = []
        length = 0
        for character in text:
            chip = self._chips.get(character)
            if chip is None:
                piece = character
            elif chip.block is not None:
                piece = self.label(chip)
                blocks.append(chip.block)
            else:
                piece = chip.text
                spans.append((length, length + len(piece)))
            out.append(piece)
            length += len(piece)
        return Expanded("".join(out), tuple(blocks), tuple(spans))

    def restore(self, text: str, spans: tuple[Span, ...]) -> str:
        """An expanded text with its pasted parts as chips again."""
        out: list[str] = []
        at = 0
        for number, (begin, end) in enumerate(spans, 1):
            if not at <= begin <= end <= len(text):
                return text
            out += [text[at:begin], self._add(Chip(number, text[begin:end]))]
            at = end
        return "".join(out) + text[at:]


class ChipProcessor(Processor):
    """Draws chips of a buffer."""

    def __init__(self, chips: Chips) -> None:
        self._chips = chips

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = explode_text_fragments(transformation_input.fragments)
        if not any(self._chips.get(fragment[1]) for fragment in fragments):
            return Transformation(transformation_input.fragments)
        shown: StyleAndTextTuples = []
        starts: list[int] = []
        width = 0
        for fragment in fragments:
            starts.append(width)
            chip = self._chips.get(fragment[1])
            text = self._chips.label(chip) if chip else fragment[1]
            shown.append((f"{fragment[0]} class:chip" if chip else fragment[0], text))
            width += len(text)
        starts.append(width)
        return Transformation(shown, *_maps(starts, width))


def _maps(starts: list[int], width: int) -> tuple[Callable[[int], int], Callable[[int], int]]:
    def to_display(index: int) -> int:
        return starts[index] if index < len(starts) else width + index - len(starts) + 1

    def to_source(position: int) -> int:
        source = 0
        for index, start in enumerate(starts):
            if start <= position:
                source = index
        return source

    return to_display, to_source
