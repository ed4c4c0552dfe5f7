"""The few signs that the interface uses, with stand-ins where the terminal has no Unicode."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    ok: str = "✓"
    failed: str = "✗"
    denied: str = "⊘"
    stopped: str = "■"
    prompt: str = "❯"
    pending: str = "☐"
    active: str = "▶"
    done: str = "☑"
    queued: str = "↳"
    pointer: str = "❯"
    dot: str = "·"
    branch: str = "⎇"
    working: str = "✻"
    spinner: tuple[str, ...] = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")


UNICODE = Glyphs()
ASCII = Glyphs("+", "x", "!", "#", ">", "[ ]", "[>]", "[x]", "->", ">", "-", "git:", "*", ("|", "/", "-", "\\"))
