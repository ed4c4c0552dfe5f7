"""The test terminal itself: it shows what a program writes, answers what a terminal answers, and can be resized."""

from __future__ import annotations

import sys

from tests.ui.emulator import Emulator
from tests.ui.pty import Program

RESIZED = """
import os, signal
# Blocked, a signal that comes before it is waited for is not lost.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
signal.signal(signal.SIGWINCH, lambda *_: None)
while True:
    os.write(1, f"{os.get_terminal_size()}\\n".encode())
    signal.sigwait([signal.SIGWINCH])
"""


def test_reads_what_the_program_writes_and_its_exit_code() -> None:
    with Program(["sh", "-c", 'read line; echo "got $line"; exit 3']) as program:
        program.send("hello\n")
        program.wait_for("got hello")
        assert program.wait_exit() == 3


def test_the_program_sees_a_resize() -> None:
    with Program([sys.executable, "-c", RESIZED], columns=70, rows=20) as program:
        program.wait_for("columns=70, lines=20")
        program.resize(50, 10)
        program.wait_for("columns=50, lines=10")


def test_answers_cursor_position_requests() -> None:
    script = "import sys,tty,os;tty.setraw(0);os.write(1,b'ab\\x1b[6n');print(repr(os.read(0,20)))"
    with Program([sys.executable, "-c", script]) as program:
        program.wait_for(r"b'\x1b[1;3R'")


def test_scrollback_keeps_what_leaves_the_screen() -> None:
    emulator = Emulator(20, 4)
    emulator.feed("\r\n".join(f"line {n}" for n in range(8)))
    assert emulator.screen() == "line 4\nline 5\nline 6\nline 7"
    emulator.resize(2, 20)
    assert emulator.everything() == "\n".join(f"line {n}" for n in range(8))
    emulator.resize(6, 20)
    assert emulator.screen() == "line 6\nline 7"
    assert emulator.caret() == (1, 6)
