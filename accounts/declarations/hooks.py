"""What code of an app calls in the apps above it, such as to erase a user's rows.

Each app declares one `HOOKS = AppHooks(...)` in its module `hooks`, which is imported
when the first hook is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from portal.lib.app_modules import import_declarations

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant
    from accounts.states import Area
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class UserBook:
    """Live users of a tenant by their ids, for pages of apps below.

    `names` gives the client_user_id of each uuid that is known, `find` the uuid of a
    whole client_user_id.
    """

    names: Callable[[Tenant, Sequence[UUID]], Mapping[UUID, str]]
    find: Callable[[Tenant, str], UUID | None]


@dataclass(frozen=True, slots=True)
class MarkerReading:
    """A person's value that no order brought, as its source wrote it.

    `value` is the number of `text`, None of what is no number; `low` and `high` bound
    its own range; `source_id` names where it is from, in the app that read it.
    """

    name: str
    loinc: str
    type: str
    text: str
    value: float | None
    unit: str
    reference_range: str
    low: float | None
    high: float | None
    interpretation: str
    is_above: bool | None
    is_below: bool | None
    at: datetime
    lab: str
    source_id: UUID


@dataclass(frozen=True, slots=True)
class MarkerSource:
    """An app's values of a person, for members who may read its area.

    `read` takes LOINC codes, or None for all of the person's. `count_waiting`, of a
    tenant and user_uuid, returns how many values wait for a signature, unread by it.
    """

    area: Area
    read: Callable[[Tenant, UUID, Collection[str] | None], list[MarkerReading]]
    count_waiting: Callable[..., int]


@dataclass(frozen=True, slots=True)
class PersonTest:
    """A lab test as the person's portal shows it; `status` is a key of PILLS.

    `document_at` is when the lab's own document came, None without one.
    """

    name: str
    status: str
    ordered_at: datetime
    updated_at: datetime
    document_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LoincQuestion:
    """A result of a catalogue whose LOINC code is asked for, in the lab's words.

    `panel` is the test that reports it, `sample_type` the catalogue's.
    """

    name: str
    unit: str
    panel: str
    sample_type: str


@dataclass(frozen=True, slots=True)
class LoincProposal:
    """A LOINC code that may fit, for a person to confirm; confidence from 0 to 1."""

    code: str
    name: str
    confidence: float


@dataclass(frozen=True, slots=True)
class StoredLabReports:
    """What became of a person's reports; those that were there before are unchanged."""

    created: int
    updated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AppHooks:
    """All that apps below call in one app, each in order.

    `user_erasers` remove all that the app stores of one user (tenant key, user uuid).
    `user_deletions` end what others would still do for a user who is being deleted
    (tenant, actor, user uuid), in that transaction and before the user's row is locked.
    `tenant_erasers` remove what it stores of a tenant besides its rows, which go by
    themselves afterwards. `tenant_setups` create what the tenants of a new team start
    with, in the team's transaction. `copy_erasers` have an erased user removed from
    copies outside the database (tenant, user uuid, time of the deletion), and return
    what the receipt says of each by its name, nothing where there is no copy.
    `user_books` name users, `marker_sources` return a
    person's values beside those of lab orders. `person_tests` return the latest lab
    tests of a live user (tenant, user uuid), newest first, that of the order (if one is
    given) before all. `loinc_proposers` return LOINC codes that may fit a result, best
    first. `lab_document_readers` enqueue the reading of a lab's document (tenant, key),
    in the transaction that makes it available. `lab_report_keepers` store reports that
    other laboratories made of a live user (tenant, user uuid, source, reports as
    users.wearables.formats.fhir.lab_reports has them), in the caller's transaction.
    `moved_order_keepers` store orders of another platform as a live user's history
    (tenant, actor, user uuid, platform, elements of contract 6.10 and 6.15), in the
    caller's transaction, and return how many, how many of them are new or changed, and
    by rule what was left out.
    """

    user_erasers: tuple[Callable[[int, UUID], None], ...] = ()
    user_deletions: tuple[Callable[[Tenant, Actor, UUID], None], ...] = ()
    tenant_erasers: tuple[Callable[[Tenant, Actor], None], ...] = ()
    tenant_setups: tuple[Callable[[Sequence[Tenant]], None], ...] = ()
    copy_erasers: tuple[
        Callable[[Tenant, UUID, datetime], Mapping[str, object]], ...
    ] = ()
    user_books: tuple[UserBook, ...] = ()
    marker_sources: tuple[MarkerSource, ...] = ()
    person_tests: tuple[
        Callable[[Tenant, UUID, UUID | None], list[PersonTest]], ...
    ] = ()
    loinc_proposers: tuple[Callable[[LoincQuestion], list[LoincProposal]], ...] = ()
    lab_document_readers: tuple[Callable[[Tenant, UUID], None], ...] = ()
    lab_report_keepers: tuple[
        Callable[[Tenant, UUID, str, Sequence[Mapping[str, Any]]], StoredLabReports],
        ...,
    ] = ()
    moved_order_keepers: tuple[
        Callable[
            [Tenant, Actor, UUID, str, Sequence[Mapping[str, Any]]],
            tuple[int, int, Counter[str]],
        ],
        ...,
    ] = ()


@cache
def list_app_hooks() -> tuple[AppHooks, ...]:
    """Return the hooks of all apps, from the highest app down."""
    return tuple(import_declarations("hooks", "HOOKS").values())
