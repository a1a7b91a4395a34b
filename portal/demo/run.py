"""Run `manage.py demo`: start everything, print how to sign in, stop on Ctrl-C.

Everything that can go wrong on somebody's machine becomes a DemoRefused: one sentence
that names the option or variable that helps.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection

from portal.demo import notes
from portal.demo.access import ensure_demo_sign_ins_and_api_keys
from portal.demo.hosts import list_machine_hosts
from portal.demo.processes import DemoProcess
from portal.demo.webhooks import HOST, demo_webhook_log_path, find_free_receiver_port
from portal.lib.database.roles import BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE
from portal.lib.embedded import server
from portal.lib.embedded.base import embedded_postgres_data_folder
from portal.lib.embedded.programs import ServerUnavailable
from portal.ops.health import (
    check_database,
    check_database_version,
    check_webhook_deliverer,
    check_worker,
)
from portal.server import STOP_S

READY_TIMEOUT_S = 60.0
ANSWER_TIMEOUT_S = 5.0
POLL_S = 0.1
WEB_STOP_TIMEOUT_S = STOP_S + 3
WORKER_STOP_TIMEOUT_S = 10
DELIVERER_STOP_TIMEOUT_S = 10
RECEIVER_STOP_TIMEOUT_S = 5
RECEIVER_START_TIMEOUT_S = 20.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 (compared with, not listened on)


class DemoRefused(Exception):
    """The demo cannot start or continue; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """The options of the command line."""

    host: str
    port: int
    reset: bool
    bare: bool

    @property
    def reachable_host(self) -> str:
        """Return a host name that reaches the server from this machine."""
        if self.host == "::":
            return "::1"
        return "127.0.0.1" if self.host in ANY_ADDRESS else self.host

    @property
    def address(self) -> str:
        """Return the URL that a browser on this machine opens."""
        host = self.reachable_host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


class Progress:
    """Print each step of the start with the seconds since the first."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._began = time.monotonic()

    def __call__(self, step: str) -> None:
        self._say(f"{time.monotonic() - self._began:4.0f} s  {step}")


def run_demo(options: DemoOptions, *, say: Callable[[str], None]) -> None:
    """Run the demo until a signal stops it; print its progress and how to sign in.

    Raises: DemoRefused. Source: Ours (a newcomer has one command).
    """
    parent_is_gone = _detect_parent_exit()
    # SIGINT too: a shell starts what it puts in the background with SIGINT ignored.
    for stop_signal in STOP_SIGNALS:
        signal.signal(stop_signal, signal.default_int_handler)
    processes: list[DemoProcess] = []
    try:
        with contextlib.suppress(KeyboardInterrupt):
            progress = Progress(say)
            granted = _prepare(options, processes, progress)
            progress("Waiting for the web server and the workers")
            _wait_until_ready(options, processes)
            connection.close()
            say(_welcome(granted))
            _restart_ended_processes(processes, parent_is_gone, say=say)
    finally:
        for stop_signal in STOP_SIGNALS:
            signal.signal(stop_signal, signal.SIG_IGN)
        for process in reversed(processes):
            process.stop()
        server.leave_all_embedded_postgres()


def _prepare(
    options: DemoOptions,
    processes: list[DemoProcess],
    progress: Callable[[str], None],
) -> notes.DemoNotes:
    """Create database, data, sign-ins and keys; a lock admits one demo at a time.

    Started processes are added to `processes`: web server and receiver at once, worker
    and deliverer once the data is in place.
    """
    _require_port(options)
    with _preparation_lock():
        if options.reset:
            _reset()
        progress("Starting PostgreSQL")
        _require_database()
        # Before `migrate`, which gives the database the key of the child processes.
        _apply_environment(_build_environment(options))
        progress("Creating the database tables")
        call_command("migrate", interactive=False, verbosity=0)
        from portal.demo.data import load_demo_data

        kept = notes.read_demo_credentials()
        port = 0
        if HOST in settings.WEBHOOK_LOCAL_HOSTS:
            port = (
                find_free_receiver_port(kept=kept.webhooks_port, beside=options.port)
                or 0
            )
        _start(processes, _serving_processes(options, webhooks_port=port))
        granted = ensure_demo_sign_ins_and_api_keys(
            teams=load_demo_data(
                webhooks_port=port, bare=options.bare, report=progress
            ),
            kept=kept,
            address=options.address,
        )
        granted = replace(granted, webhooks_port=port)
        notes.write_demo_credentials(granted)
    if port:
        _wait_for_receiver(port)
    progress("Starting the worker and the webhook deliverer")
    _start(processes, _background_processes(options))
    return granted


def _start(running: list[DemoProcess], more: list[DemoProcess]) -> None:
    for process in more:
        running.append(process)
        process.start()


def _apply_environment(chosen: Mapping[str, str]) -> None:
    """Apply the settings of the child processes to this process too."""
    settings.SECRET_KEY = chosen["SECRET_KEY"]
    settings.PUBLIC_URL = chosen["PUBLIC_URL"].rstrip("/")
    settings.WEBHOOK_LOCAL_HOSTS = chosen["WEBHOOK_LOCAL_HOSTS"].lower().split(",")


def _require_port(options: DemoOptions) -> None:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((options.host, options.port))
        except socket.gaierror:
            raise DemoRefused(
                f"{options.host} is not an address of this machine. Choose one with"
                " --host."
            ) from None
        except OverflowError:
            raise DemoRefused(
                f"{options.port} is not a port. Choose one from 1024 to 65535 with"
                " --port."
            ) from None
        except OSError as error:
            raise DemoRefused(_explain_bind_error(options, error)) from None


def _explain_bind_error(options: DemoOptions, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {options.port} is in use. Choose another one, for example --port"
            f" {options.port + 10}."
        )
    if error.errno == errno.EACCES:
        return (
            f"Port {options.port} needs root. Choose one from 1024 to 65535 with"
            " --port."
        )
    return (
        f"Cannot listen on {options.host} ({error.strerror}). Choose another address"
        " with --host."
    )


@contextlib.contextmanager
def _preparation_lock() -> Iterator[None]:
    folder = Path(settings.VAR_DIR)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "demo.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _cannot_write(folder, error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    except PermissionError as error:
        raise _cannot_write(Path(error.filename or folder), error) from None
    finally:
        os.close(lock)


def _cannot_write(path: Path, error: OSError) -> DemoRefused:
    return DemoRefused(
        f"Cannot write {path} ({error.strerror}). Set VAR_DIR to a folder you can"
        " write to."
    )


def _reset() -> None:
    if settings.DATABASE_URL:
        raise DemoRefused(
            "--reset clears the bundled PostgreSQL only. Drop and create the database"
            " of DATABASE_URL yourself."
        )
    try:
        server.delete_postgres_data(
            cluster=server.DEMO, root=embedded_postgres_data_folder()
        )
    except ServerUnavailable as error:
        raise DemoRefused(str(error)) from None
    notes.delete_demo_credentials()
    demo_webhook_log_path().unlink(missing_ok=True)
    uploads = Path(settings.UPLOADS_DIR)
    if uploads.is_relative_to(settings.VAR_DIR):
        shutil.rmtree(uploads, ignore_errors=True)


def _require_database() -> None:
    try:
        connection.ensure_connection()
    except ServerUnavailable as error:
        raise DemoRefused(str(error)) from None
    except OperationalError:
        found = check_database()
        raise DemoRefused(f"{found.sentence} {found.remedy}") from None
    version = check_database_version()
    if not version.ok:
        raise DemoRefused(f"{version.sentence} {version.remedy}")


def _serving_processes(
    options: DemoOptions, *, webhooks_port: int
) -> list[DemoProcess]:
    """Build the web server and the receiver, which start while data is loaded."""
    environment = _child_environment(options)
    server = [sys.executable, "-m", "portal.server", "--workers", "2"]
    server += ["--host", options.host, "--port", str(options.port)]
    server += ["--log-level", "warning"]
    found = {**environment, "PYTHONPATH": str(settings.BASE_DIR)}
    web = DemoProcess("web server", server, found, WEB_STOP_TIMEOUT_S)
    if not webhooks_port:
        return [web]
    listener = _command("listen", "--port", str(webhooks_port))
    listener += ["--output", str(demo_webhook_log_path())]
    receiver = DemoProcess("receiver", listener, environment, RECEIVER_STOP_TIMEOUT_S)
    return [receiver, web]


def _background_processes(options: DemoOptions) -> list[DemoProcess]:
    """Build the worker and the webhook deliverer, which need the data in place."""
    environment = _child_environment(options)
    deliverer = _command("deliver_webhooks")
    return [
        DemoProcess("deliverer", deliverer, environment, DELIVERER_STOP_TIMEOUT_S),
        DemoProcess("worker", _command("worker"), environment, WORKER_STOP_TIMEOUT_S),
    ]


def _command(*words: str) -> list[str]:
    """Build the command line of a management command, without system checks."""
    manage = str(settings.BASE_DIR / "manage.py")
    return [sys.executable, manage, *words, "--skip-checks"]


def _wait_for_receiver(port: int) -> None:
    """Wait until the receiver listens, so that the first deliveries succeed."""
    deadline = time.monotonic() + RECEIVER_START_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, port), timeout=POLL_S).close()
            return
        time.sleep(POLL_S)


def _child_environment(options: DemoOptions) -> dict[str, str]:
    """Build the environment variables of the child processes."""
    environment = _build_environment(options)
    if settings.DATABASE_URL:
        return environment | {"DATABASE_URL": settings.DATABASE_URL}
    running = server.start_embedded_postgres(
        cluster=server.DEMO, root=embedded_postgres_data_folder()
    )
    # As in production: what serves owns no table.
    return environment | {
        "DATABASE_URL": running.url(role=BUNDLED_WEB_ROLE),
        "DATABASE_WORK_URL": running.url(role=BUNDLED_WORK_ROLE),
        "DATABASE_OWNER_URL": running.url(),
    }


def _build_environment(options: DemoOptions) -> dict[str, str]:
    """Build the demo's environment variables; those the caller set win."""
    fields = dict(os.environ)
    hosts = {options.host, options.reachable_host, "127.0.0.1", "localhost", "::1"}
    if options.host in ANY_ADDRESS:
        hosts |= list_machine_hosts()
    chosen = {
        "PUBLIC_URL": options.address,
        "ALLOWED_HOSTS": ",".join(
            sorted(f"[{host}]" if ":" in host else host for host in hosts)
        ),
        "SECRET_KEY": notes.load_or_create_demo_secret_key(),
        "STATICFILES_COLLECTED": "false",
        "LOG_LEVEL": "WARNING",
        "WEBHOOK_LOCAL_HOSTS": HOST,
    }
    return {**chosen, **fields}


def _wait_until_ready(options: DemoOptions, processes: list[DemoProcess]) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    last = "no answer"
    while time.monotonic() < deadline:
        for process in processes:
            if process.has_ended():
                raise DemoRefused(
                    f"The {process.name} stopped right after its start; its output is"
                    " above. Run `manage.py doctor` to find the reason."
                )
        last = _readiness(options) or last
        if last == "ready":
            return
        time.sleep(POLL_S)
    raise DemoRefused(
        f"The demo was not ready after {READY_TIMEOUT_S:.0f} s ({last}). Run"
        " `manage.py doctor` to find the reason."
    )


def _readiness(options: DemoOptions) -> str:
    """Return `ready`, the reason why not, or nothing when the server does not answer.

    /readyz is asked last, as each of its refusals is an error in the log.
    """
    for check in (check_worker, check_webhook_deliverer):
        if not (found := check()).ok:
            return found.sentence
    client = http.client.HTTPConnection(
        options.reachable_host, options.port, timeout=ANSWER_TIMEOUT_S
    )
    try:
        client.request("GET", "/readyz")
        answer = client.getresponse()
        body = answer.read().decode()
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        client.close()
    return "ready" if answer.status == http.client.OK else f"/readyz: {body}"


def _welcome(granted: notes.DemoNotes) -> str:
    width = max(len(slug) for slug in granted.api_keys)
    keys = [f"    {slug:{width}}  {key}" for slug, key in granted.api_keys.items()]
    webhooks = [f"  Webhooks of both teams are logged in {demo_webhook_log_path()}", ""]
    return "\n".join(
        [
            "",
            f"Assay is running at {granted.address}",
            "",
            f"  Sign in       {granted.email}",
            f"  Password      {granted.password}",
            "",
            f"  Operators     {granted.address}/admin/",
            f"  Sign in       {granted.operator_email}",
            f"  Password      {granted.operator_password}",
            "                The first visit asks you to set up a second factor",
            "                with an authenticator app.",
            "",
            "  Sandbox API keys (header x-service-api-key)",
            *keys,
            "",
            *(webhooks if granted.webhooks_port else ()),
            f"These details are kept in {notes.demo_credentials_path()}."
            " Press Ctrl-C to stop.",
            "",
        ]
    )


def _restart_ended_processes(
    processes: list[DemoProcess],
    parent_is_gone: Callable[[], bool],
    *,
    say: Callable[[str], None],
) -> None:
    while not parent_is_gone():
        for process in processes:
            if process.has_ended():
                say(f"The {process.name} stopped; restarting it.")
                if not process.restart():
                    raise DemoRefused(
                        f"The {process.name} stops after each restart. Run `manage.py"
                        " doctor` to find the reason."
                    )
        time.sleep(POLL_S)


def _detect_parent_exit() -> Callable[[], bool]:
    """Return a check for the end of the `uv run` that started this process.

    `uv run manage.py demo` is two processes, and a kill -9 of the first must end the
    second as well. A shell that goes away is another matter: that is `nohup`.
    """
    parent = os.getppid()
    try:
        is_uv = Path(f"/proc/{parent}/comm").read_text().strip() == "uv"
    except OSError:
        is_uv = False
    return lambda: is_uv and os.getppid() != parent
