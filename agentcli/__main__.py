"""The door."""

from __future__ import annotations

import sys

from agentcli import __version__


def main() -> int:
    """Entry point of the console script; returns the exit code."""
    if sys.argv[1:] in (["--version"], ["-v"]):
        sys.stdout.write(f"agentcli {__version__}\n")
        return 0
    from agentcli.cli.main import run

    return run()


if __name__ == "__main__":
    sys.exit(main())
