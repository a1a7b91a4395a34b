"""Import of users from a CSV file: check it, or create the missing users."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError, Invalid
from portal.lib.periods import list_time_zones
from portal.ui.numbers import format_number
from users.models import User
from users.models.user import CLIENT_USER_ID_MAX_LENGTH
from users.operations.users.users import (
    SANDBOX_USER_LIMIT,
    ClientUserIdTaken,
    UserRequest,
    create_user,
    validate_user_request,
)
from users.queries import count_live_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from accounts.models import Tenant
    from portal.lib.actor import Actor

    # A row: the line it begins at, and its cells by column.
    _Entry = tuple[int, dict[str, str]]

COLUMNS = (
    "client_user_id",
    "fallback_time_zone",
    "fallback_birth_date",
    "ingestion_start",
    "ingestion_end",
)
EXISTS = "exists"
_ID = COLUMNS[0]
_DATES = COLUMNS[2:]
# A transaction each: short, as it holds the counter of the tenant's users.
_CHUNK = 100
_DELIMITERS = (",", ";", "\t")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LINE_MAX = 65_536
# What a spreadsheet takes for a formula, also behind the mark that our own files have.
_FORMULA = re.compile(r"'?[=+\-@\t\r]")
# Controls, marks that turn or hide text, halves of characters, and private ones.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class UserFileInvalid(DomainError):
    """The file is invalid as a whole; nothing was stored."""


@dataclass(frozen=True, slots=True)
class RowNote:
    """The reason why a row was skipped; `line` counts from 1 with the head.

    `code` EXISTS says that the user is there already, and was not changed. `column` is
    where the fault is, empty for the whole row.
    """

    line: int
    column: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class UserImport:
    """Result of a file's rows, or the preview of a dry run.

    `ignored` are columns that mean nothing to us.
    """

    rows: int
    created: int
    existing: int
    refused: int
    ignored: tuple[str, ...]


def import_users_from_csv(
    *,
    tenant: Tenant,
    actor: Actor,
    file: BinaryIO,
    is_dry_run: bool,
    rows_max: int | None = None,
    note: Callable[[RowNote], None] = lambda _note: None,
) -> UserImport:
    """Create the missing users of a CSV file; a dry run only counts them.

    `file` is seekable and is UTF-8 with a head of COLUMNS in any order, of which
    client_user_id is needed, parted by comma, semicolon or tab; dates are YYYY-MM-DD.
    It is read twice, row by row: the first time only to see that it can be read to its
    end. Each row that makes no user is told to `note`, by line; the others go on. Who
    exists is not changed. Raises: UserFileInvalid (file_encoding, file_not_csv,
    file_columns, file_empty, file_too_long), with nothing stored. Source: Contract 2.3;
    Ours: an id that a spreadsheet would run, or that has unseen characters in it, is a
    slip of the file.
    """
    _check_row_count(file, rows_max)
    run = _Run(tenant, actor, is_dry_run)
    rows = existing = refused = 0
    with _open_rows(file) as lines:
        table = _Table(lines)
        entries = table.entries()
        while chunk := list(islice(entries, _CHUNK)):
            rows += len(chunk)
            for left_out in run.create_users(chunk):
                existing += left_out.code == EXISTS
                refused += left_out.code != EXISTS
                note(left_out)
    done = UserImport(rows, rows - existing - refused, existing, refused, table.ignored)
    if not is_dry_run:
        record_change(
            tenant=tenant,
            actor=actor,
            verb="import_users",
            subject="user",
            subject_id="file",
            changes={
                "rows": done.rows,
                "created": done.created,
                "existing": done.existing,
                "refused": done.refused,
            },
        )
    return done


class _Run:
    """One run over a file: the IDs seen, and how many users still fit."""

    def __init__(self, tenant: Tenant, actor: Actor, is_dry_run: bool) -> None:
        self._tenant = tenant
        self._actor = actor
        self._is_dry_run = is_dry_run
        self._seen: set[str] = set()
        self._room = SANDBOX_USER_LIMIT - count_live_users(tenant=tenant)

    @transaction.atomic
    def create_users(self, chunk: Sequence[_Entry]) -> list[RowNote]:
        """Create the users of these rows; return the reasons of skipped ones."""
        known = self._find_existing([cells.get(_ID, "") for _line, cells in chunk])
        left_out = []
        for line, cells in chunk:
            try:
                self._create(cells, known)
            except ClientUserIdTaken:
                reason = _("The user already exists and is not changed.")
                left_out.append(RowNote(line, _ID, EXISTS, reason))
            except DomainError as refused:
                where = refused.field or ""
                left_out.append(RowNote(line, where, refused.code, refused.message))
        return left_out

    def _find_existing(self, ids: Sequence[str]) -> dict[str, User]:
        whole = [each for each in ids if "\0" not in each]
        live = User.objects.for_tenant(self._tenant).live()
        found = live.filter(client_user_id__in=whole)
        return {user.client_user_id: user for user in found}

    def _create(self, cells: dict[str, str], known: dict[str, User]) -> None:
        user_request = _parse_row(cells)
        id_ = user_request.client_user_id
        if id_ in self._seen:
            raise Invalid("id_repeated", _("An earlier line has the same ID."), _ID)
        self._seen.add(id_)
        if there := known.get(id_):
            raise ClientUserIdTaken(user_uuid=there.uuid, created_on=there.created_on)
        if not self._is_dry_run:
            create_user(tenant=self._tenant, actor=self._actor, request=user_request)
            return
        validate_user_request(user_request)
        if self._tenant.is_sandbox and self._room <= 0:
            raise DomainError(
                "sandbox_user_limit",
                _("The sandbox is limited to %(limit)d users.")
                % {"limit": SANDBOX_USER_LIMIT},
            )
        self._room -= 1


class _Table:
    """The rows below the head, by column. Raises: UserFileInvalid."""

    def __init__(self, rows: Iterator[tuple[int, list[str]]]) -> None:
        self._rows = rows
        names = [name.strip().lower() for name in next(rows, (0, []))[1]]
        known = [name for name in names if name in COLUMNS]
        if _ID not in known or len(set(known)) < len(known):
            raise UserFileInvalid(
                "file_columns",
                _("The first line must name each column once and include %(column)s.")
                % {"column": _ID},
            )
        self._names = names
        self.ignored = tuple(name for name in names if name and name not in COLUMNS)

    def entries(self) -> Iterator[_Entry]:
        """Yield each row that is not blank; without cells if malformed."""
        for line, cells in self._rows:
            if not any(cell.strip() for cell in cells):
                continue
            even = len(cells) == len(self._names)
            found = zip(self._names, cells, strict=True) if even else ()
            yield line, {name: cell.strip(" ") for name, cell in found}


@contextmanager
def _open_rows(file: BinaryIO) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Yield the file's rows from its start, each with its first line."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        yield _rows(_lines(text))
    except UnicodeDecodeError:
        raise UserFileInvalid(
            "file_encoding", _("The file is not UTF-8. Save it as CSV UTF-8.")
        ) from None
    finally:
        text.detach()


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Yield lines of a bounded length. Raises: UserFileInvalid."""
    while line := text.readline(_LINE_MAX):
        if len(line) == _LINE_MAX:
            raise UserFileInvalid(
                "file_not_csv",
                _("A line is longer than %(limit)d characters.") % {"limit": _LINE_MAX},
            )
        yield line


def _rows(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    head = next(lines, "")
    delimiter = next(
        (
            each
            for each in _DELIMITERS
            if _ID in (name.strip(' "\r\n').lower() for name in head.split(each))
        ),
        ",",
    )
    reader = csv.reader(chain([head], lines), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error:
        raise UserFileInvalid(
            "file_not_csv",
            _("Line %(line)d is not valid CSV: check its quotation marks.")
            % {"line": line},
        ) from None


def _check_row_count(file: BinaryIO, rows_max: int | None) -> None:
    with _open_rows(file) as lines:
        rows = sum(1 for _entry in _Table(lines).entries())
    if not rows:
        raise UserFileInvalid("file_empty", _("The file contains no users."))
    if rows_max is not None and rows > rows_max:
        raise UserFileInvalid(
            "file_too_long",
            _("The file contains %(number)s users; the limit is %(limit)s.")
            % {"number": format_number(rows), "limit": format_number(rows_max)},
        )


def _parse_row(cells: dict[str, str]) -> UserRequest:
    if not cells:
        raise Invalid(
            "row_length", _("The number of cells differs from the first line."), ""
        )
    id_ = cells[_ID]
    if not id_:
        raise Invalid("id_missing", _("The ID is missing."), _ID)
    if len(id_) > CLIENT_USER_ID_MAX_LENGTH:
        long = _("The ID is longer than %(limit)d characters.") % {
            "limit": CLIENT_USER_ID_MAX_LENGTH
        }
        raise Invalid("id_too_long", long, _ID)
    if any(unicodedata.category(each) in _UNSEEN for each in id_) or id_.strip() != id_:
        raise Invalid("id_unseen", _("The ID contains invisible characters."), _ID)
    if _FORMULA.match(id_):
        raise Invalid("id_formula", _("The ID starts like a spreadsheet formula."), _ID)
    zone = cells.get("fallback_time_zone") or None
    if zone is not None and zone not in list_time_zones():
        raise Invalid(
            "time_zone_unknown",
            _("Enter an IANA time zone, such as Europe/Paris."),
            "fallback_time_zone",
        )
    dates = (_parse_date(name, cells.get(name, "")) for name in _DATES)
    return UserRequest(id_, zone, *dates)


def _parse_date(name: str, text: str) -> date | None:
    if not text:
        return None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise Invalid(
        "date_invalid", _("Enter a date as YYYY-MM-DD, such as 1990-05-17."), name
    )
