"""Real workers for tests: `manage.py worker` with the counting jobs and a short pulse.

Run as `python -m tests.portal.lib.worker_process [options of the command]`.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEARTBEAT_TIMEOUT_SECONDS = 2


def database_url() -> str:
    """The test database, as another process finds it."""
    from django.db import connection

    found = connection.settings_dict
    password = f":{found['PASSWORD']}" if found["PASSWORD"] else ""
    # A DATABASE_URL may name a socket's folder among its options.
    place = {"host": found["HOST"], "port": found["PORT"], **found["OPTIONS"]}
    options = urlencode({name: value for name, value in place.items() if value})
    return f"postgresql://{found['USER']}{password}@/{found['NAME']}?{options}"


def surroundings() -> dict[str, str]:
    """The environment of another process that shares this test's database and files."""
    from django.conf import settings

    return {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database_url(),
        "SECRET_KEY": "x" * 50,
        "CONN_MAX_AGE": "0",
        "VAR_DIR": str(settings.VAR_DIR),
        "UPLOADS_DIR": str(settings.UPLOADS_DIR),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }


def start_worker(
    *options: str, stderr: int | None = None, **environment: Any
) -> subprocess.Popen[bytes]:
    from django.conf import settings

    return subprocess.Popen(
        [sys.executable, "-m", "tests.portal.lib.worker_process", *options],
        cwd=settings.BASE_DIR,
        env={**surroundings(), **environment},
        stderr=stderr,
    )


class ForkedWorker(multiprocessing.context.ForkProcess):
    """A worker that is a fork of the test's process, where all is loaded already.

    It is asked as one of `subprocess` is.
    """

    def __init__(self, *options: str, **environment: Any) -> None:
        super().__init__(target=self._work, args=(options, environment))
        self.start()

    @staticmethod
    def _work(options: tuple[str, ...], environment: dict[str, str]) -> None:
        from django.core.management import call_command
        from django.db import connection

        from tests import fence

        os.environ.update(environment)
        connection.connection = None  # the test's own
        fence.use_production_fence()
        prepare()
        call_command("worker", *options, skip_checks=True)

    def send_signal(self, number: int) -> None:
        if self.pid and self.exitcode is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int | None:
        """Its exit code, unless it runs on."""
        self.join(timeout)
        return self.exitcode

    def poll(self) -> int | None:
        """As `wait`, at once."""
        return self.exitcode


@contextmanager
def workers(
    number: int, *options: str, **environment: Any
) -> Iterator[list[ForkedWorker]]:
    """Start workers; whatever is left of them, replacements too, is killed."""
    running = [ForkedWorker(*options, **environment) for _ in range(number)]
    try:
        yield running
    finally:
        for worker in running:
            worker.kill()
            worker.wait()


def wait_until(condition: Callable[[], Any], *, seconds: float = 60) -> None:
    """Poll: what is waited for happens in another process."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def fail_to_finish_once() -> None:
    """Let the database be away when the first job's end is to be written."""
    from procrastinate.exceptions import ConnectorException
    from procrastinate.manager import JobManager

    finish = JobManager.finish_job

    async def fail(*args: Any, **inputs: Any) -> None:
        JobManager.finish_job = finish  # type: ignore[method-assign]
        raise ConnectorException

    JobManager.finish_job = fail  # type: ignore[method-assign]


def shorten_pulse() -> None:
    """Let the workers of this process find dead ones within seconds."""
    from portal.lib.jobs import jobs

    jobs.HEARTBEAT_TIMEOUT_SECONDS = HEARTBEAT_TIMEOUT_SECONDS
    jobs.HEARTBEAT_INTERVAL_SECONDS = 0.3
    jobs.POLLING_INTERVAL_SECONDS = 0.3


def prepare() -> None:
    """Make this process a worker of tests, as its environment says."""
    from portal.lib.jobs import jobs
    from tests.jobs import forget_periodic_jobs
    from tests.portal.lib import counting

    forget_periodic_jobs()
    if os.environ.get("TICKS"):
        counting.declare_tick()
    if os.environ.get("FAIL_TO_FINISH"):
        fail_to_finish_once()
    shorten_pulse()
    jobs.STOP_TIMEOUT = timedelta(seconds=float(os.environ.get("STOP_SECONDS", 30)))


def main() -> None:
    import django

    django.setup()
    from django.core.management import execute_from_command_line

    prepare()
    execute_from_command_line(["manage.py", "worker", *sys.argv[1:]])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
