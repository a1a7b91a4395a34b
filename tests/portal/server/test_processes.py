from __future__ import annotations

import os
import signal
import sys

import uvicorn
from uvicorn.supervisors import multiprocess

from portal.server import __main__ as command


def test_the_death_of_a_process_that_owes_a_sign_of_life_is_seen_at_once(monkeypatch):
    made, found = [], []

    def serve(application, **_options):
        made.append(multiprocess.Process(uvicorn.Config(application), []))

    def wait_for_the_dead(timeout):
        os.kill(process.pid, signal.SIGKILL)
        found.append(wait(timeout))
        return found[0]

    monkeypatch.setattr(multiprocess, "Process", multiprocess.Process)
    monkeypatch.setattr(uvicorn, "run", serve)
    monkeypatch.setattr(sys, "argv", ["portal.server"])
    command.serve_from_command_line()
    (process,) = made
    wait = process.parent_conn.poll
    monkeypatch.setattr(process.parent_conn, "poll", wait_for_the_dead)
    process.start()
    os.kill(process.pid, signal.SIGSTOP)  # it answers no more
    try:
        assert not process.is_alive(timeout=10)
    finally:
        process.kill()
        process.join()

    # Its end of the pipe is closed; false would be that the time is up.
    assert found == [True]
