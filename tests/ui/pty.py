"""Drives a whole program on a pseudo-terminal: real bytes in and out, an emulator in between, no sleeps."""

from __future__ import annotations

import codecs
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.ui.emulator import Emulator

DEADLINE = 60.0
"""Seconds.  Only what fails takes so long; a loaded machine may be slow."""


class Program:
    """A process on a pty.  Use as a context manager: what is left of it is killed at the end.

    ``raw`` holds everything that it wrote.  The ``wait_*`` calls read until their condition holds and fail with the
    screen in the message when the deadline (seconds) passes.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self.deadline = deadline
        self.raw = ""
        self.master, slave = os.openpty()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.emulator = Emulator(columns, rows, answer=self.send)
        self._size(columns, rows)
        values = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
        values = {k: v for k, v in values.items() if v is not None}
        self.process = subprocess.Popen(
            list(argv),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=values,
            cwd=cwd,
            start_new_session=True,
            # One system call between fork and exec, so that the terminal is the controlling one (Ctrl+Z, hang-up).
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(slave)
        self._open = True

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self._open:
            self._open = False
            os.close(self.master)

    def hang_up(self) -> None:
        """The terminal disappears."""
        self._open = False
        os.close(self.master)

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns: int, rows: int) -> None:
        self.pump(0)
        self.emulator.resize(rows, columns)
        self._size(columns, rows)

    def send(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self.master, data) :]

    def paste(self, text: str) -> None:
        self.send(f"\x1b[200~{text}\x1b[201~")

    def pump(self, timeout: float) -> bool:
        """Takes over what the program wrote; waits at most ``timeout`` for it.  False at end of file or time-out."""
        if not self._open or not select.select([self.master], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        text = self._decode(data)
        self.raw += text
        self.emulator.feed(text)
        return bool(data)

    def wait(self, condition: Callable[[], object], what: str = "condition") -> None:
        end = time.monotonic() + self.deadline
        while not condition():
            left = end - time.monotonic()
            if left <= 0 or (not self.pump(min(left, 0.5)) and self.process.poll() is not None and not condition()):
                raise AssertionError(f"{what}: not seen; exit {self.process.poll()}; screen:\n{self.everything}")

    def wait_for(self, text: str) -> None:
        """Until the text stands on the screen or in the scrollback."""
        self.wait(lambda: text in self.everything, repr(text))

    def wait_gone(self, text: str) -> None:
        """Until the text is no longer on the visible screen."""
        self.wait(lambda: text not in self.screen, f"{text!r} gone")

    def wait_exit(self) -> int:
        """Reads until the program ends; its exit code (negative: a signal)."""
        end = time.monotonic() + self.deadline
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running; screen:\n{self.everything}"
            self.pump(0.05)
        while self.pump(0):
            pass
        return self.process.returncode

    @property
    def screen(self) -> str:
        return self.emulator.screen()

    @property
    def everything(self) -> str:
        return self.emulator.everything()

    @property
    def caret(self) -> tuple[int, int]:
        return self.emulator.caret()
