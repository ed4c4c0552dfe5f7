"""The process that stands between agentcli and one command, and outlives whichever of the two goes first.

It runs as a program of its own, imports little and never anything of agentcli.
It starts the command in a session of its own, tells how it ended, and stays while anything that the command started is
alive.  When agentcli orders it, or is gone (end-of-file on the control pipe, whatever killed it), everything below is
asked to end, and killed after a grace.

On Linux it is the subreaper of its descendants: a process that daemonised or called ``setsid`` is still found.  On
other systems it reaches the command's process group.

Control pipe (read): the length of the command as a decimal line, the command's arguments joined by NUL; later
``k SECONDS`` lines, each an order to end everything with that grace (a shorter one overrides).

Status pipe (written), lines: ``forked PID``; ``started`` or ``failed ERRNO``; then ``exited WAITSTATUS STRAYS``, where
STRAYS is 1 if something that the command started is still alive.  End-of-file: nothing is left.
"""

from __future__ import annotations

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
else:
    import _signal as signal  # the public module loads enum, which costs as much as starting Python

ORPHANED_GRACE = 1.0
"""Seconds between TERM and KILL when agentcli is gone."""
GIVE_UP = 10.0
"""Seconds of killing after which processes that can't be killed (another user's, stuck in the kernel) are left."""
FREEZE_ROUNDS = 20
"""Looks for new processes before a signal is sent; only a fork bomb needs more than two."""
POLL = 0.5
"""Seconds between two looks at a process group where adopted children can't be waited for."""
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_RESTORED = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)


def become_subreaper() -> bool:
    """Orphans below become children of this process (Linux 3.4); False where the system can't."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_NAME, b"agentcli-super", 0, 0, 0)
        return bool(prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def parents() -> dict[int, int]:
    """Every process and its parent, as ``/proc`` shows them now.  Zombies too: the first thread of a process may be one
    while its others live."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            found[int(name)] = int(fields[1])
    return found


def descendants() -> set[int]:
    """Everything below this process."""
    table = parents()
    found: set[int] = set()
    wave = {os.getpid()}
    while wave:
        wave = {pid for pid, parent in table.items() if parent in wave} - found
        found |= wave
    return found


def deliver(send: Callable[[int, int], None], target: int, number: int) -> None:
    """Sends a signal; a target that is gone, or another user's, is passed over."""
    try:
        send(target, number)
    except (ProcessLookupError, PermissionError):
        return


class Supervisor:
    def __init__(self, control: int, status: int) -> None:
        self.control = control
        self.status = status
        self.adopts = become_subreaper()
        self.main = 0
        self.exited = False
        self.unread = b""
        self.orphaned = False
        self.term_until: float | None = None
        """End of the grace, once the end is ordered."""
        self.kill_until = 0.0
        self.wake, wake_write = os.pipe()
        for descriptor in (self.wake, wake_write, control, status):
            os.set_inheritable(descriptor, False)
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)

    def read_command(self) -> list[bytes]:
        """Waits for the command.  Ends the process if agentcli is gone before it has told one."""
        data = b""
        while True:
            line, found, rest = data.partition(b"\n")
            if found and len(rest) >= int(line):
                size = int(line)
                self.unread = rest[size:]
                return rest[:size].split(b"\0")
            more = os.read(self.control, 65536)
            if not more:
                os._exit(0)
            data += more

    def tell(self, line: str) -> None:
        try:
            os.write(self.status, line.encode() + b"\n")
        except OSError:
            self.orphaned = True

    def start(self, command: list[bytes]) -> None:
        """Starts the command, or tells why it can't and ends the process."""
        error_read, error_write = os.pipe()
        self.main = os.fork()
        if self.main == 0:
            self.become(command, error_write)
        os.close(error_write)
        failure = os.read(error_read, 32)
        os.close(error_read)
        if failure:
            self.tell(f"failed {failure.decode()}")
            os._exit(0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)
        os.chdir("/")
        self.tell("started")

    def become(self, command: list[bytes], error: int) -> None:
        """In the child: turns into the command."""
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in _RESTORED:
                signal.signal(number, signal.SIG_DFL)
            self.tell(f"forked {os.getpid()}")  # not by the parent: the command might kill it before it does
            os.execvp(command[0], command)
        except OSError as problem:
            os.write(error, str(problem.errno).encode())
        finally:
            os._exit(127)

    def run(self) -> None:
        self.take_orders(b"")
        while not self.finished():
            ready = select.select([self.wake] + ([] if self.orphaned else [self.control]), [], [], self.patience())[0]
            if self.wake in ready:
                os.read(self.wake, 4096)
            if self.control in ready:
                self.obey()
            if self.orphaned and self.term_until is None:
                self.terminate(ORPHANED_GRACE)
            if self.term_until is not None and time.monotonic() >= self.term_until and not self.kill():
                return

    def patience(self) -> float | None:
        """Seconds until there is something to do without being woken."""
        if self.kill_until:
            return 0.02
        if self.term_until is not None:
            return max(0.0, self.term_until - time.monotonic())
        return POLL if self.exited and not self.adopts else None

    def finished(self) -> bool:
        """Takes up everything that has ended; whether nothing is left."""
        exit_status: int | None = None
        left = True
        while left:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                left = False
                break
            if pid == 0:
                break
            if pid == self.main:
                exit_status = status
        if not left and not self.adopts:
            left = self.group_alive()
        if exit_status is not None:
            self.exited = True
            self.tell(f"exited {exit_status} {int(left)}")
        return not left

    def group_alive(self) -> bool:
        try:
            os.killpg(self.main, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def obey(self) -> None:
        data = os.read(self.control, 4096)
        self.orphaned = not data
        self.take_orders(data)

    def take_orders(self, data: bytes) -> None:
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.terminate(float(line[2:]))

    def terminate(self, grace: float) -> None:
        """Asks everything below to end.  Each process is stopped first and continued last: a child that is forked
        meanwhile would miss the signal, and one that was stopped before could not act on it."""
        until = time.monotonic() + grace
        if self.term_until is None:
            found = self.freeze()
            self.send(signal.SIGTERM, found)
            self.send(signal.SIGCONT, found)
            self.term_until = until
        self.term_until = min(self.term_until, until)

    def kill(self) -> bool:
        """Kills everything below; whether to go on trying."""
        now = time.monotonic()
        self.kill_until = self.kill_until or now + GIVE_UP
        self.send(signal.SIGKILL, self.freeze())
        return now < self.kill_until

    def freeze(self) -> set[int]:
        """Stops everything below, until no new process turns up; what was found."""
        found: set[int] = set()
        for _ in range(FREEZE_ROUNDS):
            new = descendants() - found if self.adopts else set()
            if not new:
                break
            self.send(signal.SIGSTOP, new)
            found |= new
        return found

    def send(self, number: int, targets: set[int]) -> None:
        """Sends a signal to the processes, or to the command's group where others can't be found."""
        if not self.adopts:
            deliver(os.killpg, self.main, number)
        for pid in targets:
            deliver(os.kill, pid, number)


def main() -> None:
    """``argv``: the numbers of the control and the status descriptor."""
    del sys.path[0]
    supervisor = Supervisor(int(sys.argv[1]), int(sys.argv[2]))
    supervisor.start(supervisor.read_command())
    supervisor.run()
    os._exit(0)
