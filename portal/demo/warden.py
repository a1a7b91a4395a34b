"""Run one of the demo's processes, and end it and its children with the demo.

Run as a script by `processes`, never imported: the standard library only. Its standard
input is a pipe that demo alone holds open, so that it ends however demo ends, kill -9
included. It also catches what a parent-death signal does not: the web server's own
processes, which outlive their killed parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def run_command_until_input_ends(command: list[str]) -> int:
    """Run a command until it ends, or until standard input does; return its code."""
    child = subprocess.Popen(  # noqa: S603 - the command line demo made
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_die_with_parent(),
    )
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    threading.Thread(
        target=_kill_group_when_input_ends, args=(child.pid,), daemon=True
    ).start()
    code = child.wait()
    _kill_group(child.pid)
    return code if code >= 0 else 128 - code


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    warden = os.getpid()

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != warden:
            os._exit(1)

    return prepare


def _kill_group_when_input_ends(group: int) -> None:
    while os.read(0, 1):
        pass
    _kill_group(group)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(run_command_until_input_ends(sys.argv[1:]))
