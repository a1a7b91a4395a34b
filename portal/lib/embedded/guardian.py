"""The process that owns one bundled PostgreSQL server and ends with its last user.

Run as a script by `server`, never imported by the application: the standard library
only, so that it starts fast and cannot break with the code it serves. Users hold a
shared flock, which the kernel drops even on kill -9; the guardian sleeps until the
exclusive one is granted, so it needs no polling, no heartbeat and no pid list.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
STOP_TIMEOUT_S = 20


def run_postgres_until_unused(arguments: list[str]) -> int:
    """Run PostgreSQL until its last user leaves; return its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gate", required=True)
    parser.add_argument("--use", required=True)
    parser.add_argument("--uid", type=int, required=True)
    parser.add_argument("--gid", type=int, required=True)
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)

    if os.fork():
        os._exit(0)
    postgres = subprocess.Popen(  # noqa: S603 - the command line server.py made
        chosen.command, preexec_fn=_as_server_user(chosen.uid, chosen.gid)
    )
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for stop_signal in (signal.SIGTERM, signal.SIGINT):
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
        signal.signal(stop_signal, lambda *_: postgres.send_signal(signal.SIGINT))
    threading.Thread(
        target=_stop_after_last_user,
        args=(postgres, chosen.gate, chosen.use),
        daemon=True,
    ).start()
    return postgres.wait()


def _as_server_user(uid: int, gid: int) -> Callable[[], None]:
    guardian = os.getpid()
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def prepare() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
        if prctl is not None:
            # After setuid, which clears it. Without it a killed guardian would leave
            # a server that nobody counts.
            prctl(PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != guardian:
                os._exit(1)

    return prepare


def _stop_after_last_user(
    postgres: subprocess.Popen[bytes], gate_path: str, use_path: str
) -> None:
    gate = os.open(gate_path, os.O_RDWR)
    use = os.open(use_path, os.O_RDWR)
    while True:
        fcntl.flock(use, fcntl.LOCK_EX)
        # Let go before asking for the gate: a newcomer holds the gate while it waits
        # for its share, and the two would wait for each other.
        fcntl.flock(use, fcntl.LOCK_UN)
        fcntl.flock(gate, fcntl.LOCK_EX)
        try:
            fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(gate, fcntl.LOCK_UN)
            continue
        break
    postgres.send_signal(signal.SIGINT)
    try:
        postgres.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        postgres.send_signal(signal.SIGQUIT)


if __name__ == "__main__":
    sys.exit(run_postgres_until_unused(sys.argv[1:]))
