from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time

import pytest

from portal.demo.processes import RESTARTS, DemoProcess
from tests.portal.lib.embedded.embedded_server import (
    BASE_DIR,
    WAIT_S,
    kill_all_naming,
    processes_naming,
    wait_until_nothing_names,
)

# A server with a worker process of its own, neither of which ends when asked nicely.
STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[2] == "parent":
    subprocess.Popen([sys.executable, "-c", sys.argv[3], sys.argv[1], "child"])
time.sleep(600)
"""
# Stands for demo: starts a process, says so, and waits.
STARTER = """
import os, sys, time
from portal.demo.processes import DemoProcess
process = DemoProcess("web server", sys.argv[1:], dict(os.environ), 1)
process.start()
print("started", flush=True)
time.sleep(600)
"""
STUBBORN_PROCESSES = 2


@pytest.fixture
def mark():
    """A word on the command lines of a test's processes, by which to find them."""
    word = f"assay-test-{secrets.token_hex(8)}"
    yield word
    kill_all_naming(word)


def stubborn(mark):
    return [sys.executable, "-c", STUBBORN, mark, "parent", STUBBORN]


def children(mark):
    """Pids of the processes that a warden keeps, without the warden."""
    return [
        pid
        for pid in processes_naming(mark)
        if "warden.py" not in command_line(pid) and STARTER not in command_line(pid)
    ]


def command_line(pid):
    with open(f"/proc/{pid}/cmdline") as file:  # noqa: PTH123 - proc files have no size
        return file.read()


def wait_until(condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def run(mark, command, stop_timeout_s=10.0):
    process = DemoProcess("worker", command, dict(os.environ), stop_timeout_s)
    process.start()
    return process


def test_a_process_that_does_not_end_is_killed_with_all_it_started(mark):
    process = run(mark, stubborn(mark), stop_timeout_s=0.2)
    wait_until(lambda: len(children(mark)) == STUBBORN_PROCESSES)

    process.stop()

    assert processes_naming(mark) == []


def test_a_process_that_ends_when_asked_is_given_the_time(mark):
    polite = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = run(mark, [sys.executable, "-c", polite, mark])
    wait_until(lambda: any(catches_sigterm(pid) for pid in children(mark)))

    process.stop()

    assert process.warden.returncode == 7
    assert processes_naming(mark) == []


def catches_sigterm(pid):
    with open(f"/proc/{pid}/status") as file:  # noqa: PTH123 - proc files have no size
        (caught,) = [line.split()[1] for line in file if line.startswith("SigCgt")]
    return bool(int(caught, 16) & 1 << (signal.SIGTERM - 1))


def test_what_a_dead_process_left_behind_ends_with_it(mark):
    process = run(mark, stubborn(mark))
    wait_until(lambda: len(children(mark)) == STUBBORN_PROCESSES)

    os.kill(min(children(mark)), signal.SIGKILL)

    wait_until(process.has_ended)
    assert processes_naming(mark) == []
    process.stop()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_the_process_that_started_it(mark, ending):
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, *stubborn(mark)],
        cwd=BASE_DIR,
        stdout=subprocess.PIPE,
    )
    wait_until(lambda: len(children(mark)) == STUBBORN_PROCESSES)

    starter.send_signal(ending)
    starter.communicate()

    assert wait_until_nothing_names(mark)


def test_a_killed_warden_takes_its_process_along(mark):
    idle = [sys.executable, "-c", "import time; time.sleep(600)", mark]
    process = run(mark, idle)
    wait_until(lambda: len(children(mark)) == 1)

    process.warden.kill()

    assert wait_until_nothing_names(mark)
    process.stop()


def test_ctrl_c_in_the_terminal_passes_the_processes_by(mark):
    process = run(mark, stubborn(mark), stop_timeout_s=0.2)
    wait_until(lambda: len(children(mark)) == STUBBORN_PROCESSES)

    groups = {os.getpgid(pid) for pid in processes_naming(mark)}

    assert os.getpgid(0) not in groups
    process.stop()


def test_a_process_that_dies_again_and_again_is_given_up(mark):
    process = run(mark, [sys.executable, "-c", "raise SystemExit(3)", mark])

    outcomes = []
    for _ in range(RESTARTS + 1):
        wait_until(process.has_ended)
        outcomes.append(process.restart())

    assert outcomes == [True] * RESTARTS + [False]
    process.stop()
