"""Child processes: one manager for shell commands, MCP servers, hooks and the status line.

Each command runs in a session of its own under a small supervisor process (``supervisor.py``).  What holds:

- A command counts as ended when it has, not when its last background child closes a pipe.
- Ending a command ends everything that it started, also what called ``setsid`` or ignores TERM (on systems other than
  Linux: its process group).
- Nothing outlives agentcli, however agentcli ends, SIGKILL included.  What a command left running (a server started
  with ``&``) goes on until then, no longer.
- A kill never reaches agentcli's own process group.
"""

from agentcli.processes.environment import KEYS, environment, without_keys
from agentcli.processes.manager import ProcessManager, Stderr, Stdin, Stdout
from agentcli.processes.output import Collector, Limits, Output, Page
from agentcli.processes.owner import owned_by
from agentcli.processes.pipes import Input
from agentcli.processes.running import GRACE, Finished, Running

__all__ = [
    "GRACE",
    "KEYS",
    "Collector",
    "Finished",
    "Input",
    "Limits",
    "Output",
    "Page",
    "ProcessManager",
    "Running",
    "Stderr",
    "Stdin",
    "Stdout",
    "environment",
    "owned_by",
    "without_keys",
]
