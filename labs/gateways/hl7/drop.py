"""The folder for exchanging files with a lab.

Each team has a folder for each of its lab accounts, so that files of teams never mix:
`<team slug>/<environment>/<lab slug>/<account id or platform>` below HL7_DIR. In it,
`out` has our orders and acknowledgements, `in` the lab's files, `done` and `failed` the
processed ones. Writers create a file under a name that begins with a dot or ends in
`.tmp` or `.part`, and rename it when it is complete.

Each step raises OSError, a TimeoutError where the share hangs.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings

from labs.gateways.hl7.messages import MAX_FILE_BYTES
from labs.gateways.hl7.time_limit import limit_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from accounts.models import Tenant
    from labs.models import Hl7Connection, Lab, LabAccount

PLATFORM = "platform"
# In place of a lab's slug, for a team's own system.
OWN_SYSTEM = "own-system"
OUT, IN, DONE, FAILED = "out", "in", "done", "failed"
# A file that changed a moment ago may still be written by who does not rename.
SETTLE = timedelta(seconds=5)
# Afterwards the database alone has it, which forgets people when it is asked to.
DONE_RETENTION = timedelta(days=30)
_UNFINISHED = (".tmp", ".part", ".filepart")
_NAME_MAX_LENGTH = 180


@dataclass(frozen=True, slots=True)
class DroppedFile:
    """A file from a lab; `content` is None if it is too large."""

    name: str
    content: bytes | None
    digest: str


@dataclass(frozen=True, slots=True)
class DropFolder:
    """The folder of one team, environment, lab and account (None: the platform's)."""

    team_slug: str
    environment: str
    lab_slug: str
    account_id: UUID | None

    @classmethod
    def for_account(
        cls, *, tenant: Tenant, lab: Lab, account: LabAccount | None
    ) -> DropFolder:
        """Return the folder for orders on this account."""
        return cls(
            team_slug=tenant.team.slug,
            environment=tenant.environment,
            lab_slug=lab.slug,
            account_id=account.pk if account else None,
        )

    @classmethod
    def for_connection(cls, connection: Hl7Connection) -> DropFolder:
        """Return the folder of a connection's account, or of the team's own system."""
        account = connection.account
        return cls(
            team_slug=connection.tenant.team.slug,
            environment=connection.tenant.environment,
            lab_slug=account.lab.slug if account else OWN_SYSTEM,
            account_id=account.pk if account else connection.pk,
        )

    @property
    def path(self) -> Path:
        """Return the folder's path, existing or not."""
        return Path(
            settings.HL7_DIR,
            self.team_slug,
            self.environment,
            self.lab_slug,
            str(self.account_id or PLATFORM),
        )

    @limit_time
    def create(self) -> None:
        """Create the folder if missing, accessible to this user only."""
        self._create()

    @limit_time
    def write_file(self, name: str, content: bytes) -> None:
        """Write or replace a file for the lab. Raises: OSError."""
        self._create()
        unfinished = self.path / OUT / f".{name}"
        with open(unfinished, "wb", opener=_open_with_group_access) as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        unfinished.replace(self.path / OUT / name)

    def _create(self) -> None:
        for name in (OUT, IN, DONE, FAILED):
            (self.path / name).mkdir(mode=0o700, parents=True, exist_ok=True)

    @limit_time
    def check_access(self) -> None:
        """Write, list and delete a file in each of the folders, which must exist.

        Its name begins with a dot, so that nobody takes it for a message. None is
        created: a share that is not mounted would look well. Raises: OSError.
        """
        for name in (OUT, IN, DONE, FAILED):
            tried = self.path / name / f".check-{os.getpid()}"
            try:
                tried.write_bytes(b"")
                os.listdir(tried.parent)  # noqa: PTH208 - lists at once, or raises
            finally:
                tried.unlink(missing_ok=True)

    @limit_time
    def list_waiting_files(self, *, now: datetime) -> list[str]:
        """List the names of incoming files, oldest first."""
        found: list[tuple[float, str]] = []
        try:
            entries = list(os.scandir(self.path / IN))
        except FileNotFoundError:
            return []
        for entry in entries:
            # Links and pipes are nobody's results.
            if is_unfinished(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            try:
                changed = entry.stat(follow_symlinks=False).st_mtime
            except FileNotFoundError:
                continue
            age = now.timestamp() - changed
            # A clock that runs ahead must not hold a file back for long.
            if age >= SETTLE.total_seconds() or age < -SETTLE.total_seconds():
                found.append((changed, entry.name))
        return [name for _, name in sorted(found)]

    @limit_time
    def read_file(self, name: str) -> DroppedFile | None:
        """Return an incoming file; None if it is gone or no file. Raises: OSError."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            number = os.open(self.path / IN / name, flags)
        except FileNotFoundError:
            return None
        with os.fdopen(number, "rb") as opened:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                return None
            content = opened.read(MAX_FILE_BYTES + 1)
            digest = hashlib.sha256(content)
            if len(content) <= MAX_FILE_BYTES:
                return DroppedFile(name, content, digest.hexdigest())
            while block := opened.read(1 << 20):
                digest.update(block)
        return DroppedFile(name, None, digest.hexdigest())

    @limit_time
    def archive_file(self, dropped: DroppedFile, *, failed: bool) -> None:
        """Move a file out of `in`; do nothing if another run has. Raises: OSError."""
        name = f"{dropped.digest[:12]}-{dropped.name}"[:_NAME_MAX_LENGTH]
        try:
            (self.path / IN / dropped.name).replace(
                self.path / (FAILED if failed else DONE) / name
            )
        except FileNotFoundError:
            return

    @limit_time
    def delete_old_archive(self, *, now: datetime) -> None:
        """Delete files archived longer than DONE_RETENTION ago."""
        before = (now - DONE_RETENTION).timestamp()
        for path in (self.path / DONE).glob("*"):
            if path.lstat().st_mtime < before:
                path.unlink(missing_ok=True)


def is_unfinished(name: str) -> bool:
    """Return whether a file of this name is still being written."""
    return name.startswith(".") or name.lower().endswith(_UNFINISHED)


def _open_with_group_access(path: str, flags: int) -> int:
    """Open a file for this user and the folder's group."""
    return os.open(path, flags, 0o640)


def list_hl7_drop_folders() -> Iterator[DropFolder]:
    """List the existing folders; skip names of another form. Raises: OSError."""
    for path in _list_paths(Path(settings.HL7_DIR), f"*/*/*/*/{IN}"):
        *_, team_slug, environment, lab_slug, account, _ = path.parts
        try:
            account_id = None if account == PLATFORM else UUID(account)
        except ValueError:
            continue
        yield DropFolder(team_slug, environment, lab_slug, account_id)


def delete_hl7_files_containing_names(
    names: Collection[bytes], *, team_slug: str, environment: str
) -> int:
    """Delete a tenant's files that contain one of `names`, in content or name.

    In every folder of every lab, those that wait included; returns how many.
    """
    paths = _list_paths(Path(settings.HL7_DIR, team_slug, environment), "*/*/*/*")
    return sum(_delete_file_containing(path, names) for path in paths)


@limit_time
def _list_paths(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.glob(pattern))


@limit_time
def _delete_file_containing(path: Path, names: Collection[bytes]) -> bool:
    # A file may be put away by another process meanwhile.
    with suppress(FileNotFoundError):
        if path.is_symlink() or not path.is_file():
            return False
        content = path.read_bytes()
        if any(name in content or name in path.name.encode() for name in names):
            path.unlink()
            return True
    return False
