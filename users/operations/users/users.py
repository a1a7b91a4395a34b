"""Users: create, change, delete, undo, erase; and the counter of a tenant's users."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.hooks import list_app_hooks
from accounts.operations.audit.entries import record_change
from accounts.webhooks.operations import delete_user_events
from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.database import rows
from portal.lib.errors import DomainError, Invalid, NotFound
from portal.lib.jobs import jobs
from users.models import User
from users.models.user import MANUAL, ONCE_PER_CLIENT_USER_ID, UNDO_GRACE
from users.operations.erasure import (
    allow_deletes_in_append_only_tables,
    count_user_rows,
    create_erasure_receipt,
    remove_mentions_of_user,
)
from users.operations.sources.pausing import resume_sources_paused_by_ingestion_end
from users.operations.sources.sources import disconnect_all_user_sources
from users.queries import lock_user

if TYPE_CHECKING:
    from datetime import date, datetime, timedelta
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor

SANDBOX_USER_LIMIT = 50  # Contract 1.8
# Anywhere in an ID: what names or rings somebody. Digits alone and "+1" stay legal.
_EMAIL = re.compile(r"[^@\s]@[^@\s]+\.[^@\s.]")
_PHONE = re.compile(r"\+(?:[\s().-]*\d){7,}|\(\d{3}\)[\s.-]*\d{3}[\s.-]*\d{4}")
_PHONE_ALONE = re.compile(r"\+[\d\s().-]*\d[\d\s().-]*")
# Named alone in the audit: erasing the user must leave nothing there but the uuid.
_NAMED_ALONE = frozenset({"client_user_id", "fallback_birth_date"})
_FALLBACKS = frozenset({"fallback_time_zone", "fallback_birth_date"})


class Keep(Enum):
    """The type of KEEP: the input leaves the stored value unchanged."""

    KEEP = "keep"


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class UserRequest:
    """A user to create. `fallback_time_zone` is an IANA identifier."""

    client_user_id: str
    fallback_time_zone: str | None = None
    fallback_birth_date: date | None = None
    ingestion_start: date | None = None
    ingestion_end: date | None = None


@dataclass(frozen=True, slots=True)
class UserChanges:
    """What to change of a user: KEEP leaves a field, None clears it."""

    client_user_id: str | Keep = KEEP
    fallback_time_zone: str | Keep | None = KEEP
    fallback_birth_date: date | Keep | None = KEEP
    ingestion_start: date | Keep | None = KEEP
    ingestion_end: date | Keep | None = KEEP


class ClientUserIdTaken(DomainError):
    """A live user has this client_user_id; says which one (contract 1.3)."""

    def __init__(self, *, user_uuid: UUID, created_on: datetime) -> None:
        super().__init__(
            "client_user_id_taken",
            _("A user with this client_user_id already exists."),
            "client_user_id",
        )
        self.user_uuid = user_uuid
        self.created_on = created_on


@transaction.atomic
def create_user(*, tenant: Tenant, actor: Actor, request: UserRequest) -> User:
    """Create a user; no event exists for users.

    Raises: client_user_id_personal, ingestion_ends_before_start (422);
    client_user_id_taken, sandbox_user_limit. Source: Contract 2.3, 1.8.
    """
    user = User(tenant=tenant)
    before = _apply(user, request)
    validate_user_request(user)
    _save(user)
    _count_user(tenant)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_user",
        subject="user",
        subject_id=user.uuid,
        user_uuid=user.uuid,
        changes=_changes_for_audit(user, before),
    )
    return user


@transaction.atomic
def update_user(*, user: User, actor: Actor, changes: UserChanges) -> User:
    """Change a live user; stored data stays when ingestion bounds change.

    A fallback gets a new `updated_at` only with a new value. Raises: not_found;
    client_user_id_personal, ingestion_ends_before_start (422); client_user_id_taken.
    Source: Contract 2.2, 2.3; Ours: moving the end of ingestion resumes the sources
    that the old end paused.
    """
    user = lock_user(user)
    before = _apply(user, changes)
    if not before:
        return user
    if "fallback_birth_date" in before:
        validate_user_request(user)
    else:  # one stored before the rule is no reason to refuse another change
        _validate_id_and_bounds(user)
    _save(user, columns=_columns(before))
    if "ingestion_end" in before:
        resume_sources_paused_by_ingestion_end(user=user, actor=actor)
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="change_user",
        subject="user",
        subject_id=user.uuid,
        user_uuid=user.uuid,
        changes=_changes_for_audit(user, before),
    )
    return user


@transaction.atomic
def delete_user(*, user: User, actor: Actor) -> User:
    """Hide a user, disconnect their sources and cancel their upcoming visits.

    Erased after UNDO_GRACE. Raises: not_found. Source: Contract 2.2; Ours: visits.
    """
    for app in list_app_hooks():
        for end in app.user_deletions:
            end(user.tenant, actor, user.uuid)
    user = lock_user(user)
    disconnect_all_user_sources(user=user, actor=actor)
    user.deleted_at = timezone.now()
    user.save(update_fields=["deleted_at"])
    _change_count(user.tenant, by=-1)
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="delete_user",
        subject="user",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return user


@transaction.atomic
def undo_delete_user(
    *,
    tenant: Tenant,
    actor: Actor,
    user_uuid: UUID | None = None,
    client_user_id: str | None = None,
) -> User:
    """Restore a deleted user, named by exactly one of the two IDs.

    Of several deleted users with one client_user_id the last deleted comes back.
    Sources stay disconnected. Raises: one_id_needed, user_not_deleted,
    client_user_id_taken, undo_grace_over, sandbox_user_limit; not_found. Source:
    Contract 2.2; Ours (contract silent): the sandbox limit holds here too.
    """
    if (user_uuid is None) == (client_user_id is None):
        raise DomainError(
            "one_id_needed", _("Send either user_id or client_user_id, not both.")
        )
    mine = User.objects.for_tenant(tenant)
    same = (
        mine.filter(uuid=user_uuid)
        if client_user_id is None
        else mine.filter(client_user_id=client_user_id)
    )
    user: User | None = (
        same.filter(deleted_at__isnull=False)
        .select_for_update()
        .order_by("-deleted_at", "-id")
        .first()
    )
    if user is None:
        if same.live().exists():
            raise DomainError("user_not_deleted", _("This user is not deleted."))
        raise NotFound("not_found", _("User not found."))
    user.tenant = tenant
    if user.undo_ends_at <= timezone.now():
        raise DomainError(
            "undo_grace_over", _("This deletion can no longer be undone.")
        )
    user.deleted_at = None
    _save(user, columns=["deleted_at"])
    _count_user(tenant)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="undo_delete_user",
        subject="user",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return user


@transaction.atomic
def erase_user(
    *, tenant: Tenant, actor: Actor, user_uuid: UUID, grace: timedelta = UNDO_GRACE
) -> bool:
    """Erase a deleted user after the grace; return whether there was one.

    `grace` is how long a deletion can be undone: for demo data not at all. Higher apps
    remove their part through `accounts.declarations.hooks`. The audit stays: it
    names the user by uuid alone, and so does the signed receipt that is kept of what
    was removed. Source: Contract 2.2.
    """
    user = (
        User.objects.for_tenant(tenant)
        .filter(uuid=user_uuid, deleted_at__lte=timezone.now() - grace)
        .select_for_update()
        .first()
    )
    if user is None:
        return False
    allow_deletes_in_append_only_tables()
    removed = count_user_rows(user=user)
    for app in list_app_hooks():
        for erase in app.user_erasers:
            erase(tenant.pk, user_uuid)
    delete_user_events(tenant_pk=tenant.pk, user_uuid=user_uuid)
    removed |= remove_mentions_of_user(tenant=tenant, user=user)
    deleted_at = user.deleted_at
    user.delete()  # takes connections and demographics with it
    receipt = create_erasure_receipt(
        tenant=tenant, user_uuid=user_uuid, deleted_at=deleted_at, removed=removed
    )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="erase_user",
        subject="user",
        subject_id=user_uuid,
        user_uuid=user_uuid,
        changes={"receipt": str(receipt.pk), "sha256": receipt.sha256},
    )
    return True


def enqueue_due_user_erasures() -> int:
    """Enqueue erasing each user after the grace; return how many.

    Over all tenants. A user is enqueued again until erased: a second time is harmless.
    """
    due = User.unscoped.filter(deleted_at__lte=timezone.now() - UNDO_GRACE)
    number = 0
    for user in due.select_related("tenant").iterator():
        jobs.enqueue_job("users.erase", tenant=user.tenant, user_id=str(user.uuid))
        number += 1
    return number


def _apply(user: User, request: UserRequest | UserChanges) -> dict[str, Any]:
    """Set changed values on `user`; return the old ones by name."""
    before: dict[str, Any] = {}
    for field in fields(request):
        name, new = field.name, getattr(request, field.name)
        old = getattr(user, name) or None
        if new is KEEP or new == old:
            continue
        before[name] = old
        if name in _FALLBACKS:
            setattr(user, f"{name}_source", MANUAL if new else "")
            setattr(user, f"{name}_updated_at", timezone.now() if new else None)
        setattr(user, name, "" if name == "fallback_time_zone" and not new else new)
    return before


def _columns(before: dict[str, Any]) -> list[str]:
    columns = list(before)
    for name in _FALLBACKS & before.keys():
        columns += [f"{name}_source", f"{name}_updated_at"]
    return columns


def _changes_for_audit(user: User, before: dict[str, Any]) -> dict[str, object]:
    """Return changes for the audit log: personal fields by name, others by value."""
    changes: dict[str, object] = {
        name: [_plain(old), _plain(getattr(user, name) or None)]
        for name, old in before.items()
        if name not in _NAMED_ALONE
    }
    if named := sorted(_NAMED_ALONE & before.keys()):
        changes["fields"] = named
    return changes


def _plain(value: date | str | None) -> str | None:
    return value if value is None or isinstance(value, str) else value.isoformat()


def validate_user_request(user: User | UserRequest) -> None:
    """Refuse a request that is invalid for any user.

    Raises: client_user_id_personal, ingestion_ends_before_start, dob_in_future,
    dob_too_early (422). Source: Contract 2.3.
    """
    if user.fallback_birth_date is not None:
        require_plausible_birth_date(user.fallback_birth_date, "fallback_birth_date")
    _validate_id_and_bounds(user)


def _validate_id_and_bounds(user: User | UserRequest) -> None:
    text = user.client_user_id
    if _EMAIL.search(text) or _PHONE.search(text) or _PHONE_ALONE.fullmatch(text):
        raise Invalid(
            "client_user_id_personal",
            _("client_user_id cannot contain an email address or a phone number."),
            "client_user_id",
        )
    start, end = user.ingestion_start, user.ingestion_end
    if start and end and end < start:
        raise Invalid(
            "ingestion_ends_before_start",
            _("ingestion_end cannot be before ingestion_start."),
            "ingestion_end",
        )


def _save(user: User, *, columns: list[str] | None = None) -> None:
    """Write a new user, or `columns` of one. Raises: client_user_id_taken."""
    while True:
        try:
            with transaction.atomic():
                user.save(force_insert=columns is None, update_fields=columns)
        except IntegrityError as error:
            if _constraint_of(error) != ONCE_PER_CLIENT_USER_ID:
                raise
            holder = (
                User.objects.for_tenant(user.tenant)
                .live()
                .filter(client_user_id=user.client_user_id)
                .first()
            )
            # None: whoever held the id was deleted meanwhile, so it is free now.
            if holder is not None:
                raise ClientUserIdTaken(
                    user_uuid=holder.uuid, created_on=holder.created_on
                ) from None
        else:
            return


def _constraint_of(error: IntegrityError) -> str | None:
    cause = error.__cause__
    return cause.diag.constraint_name if isinstance(cause, psycopg.Error) else None


def _count_user(tenant: Tenant) -> None:
    """Count one more user. Raises: sandbox_user_limit; the caller rolls back."""
    live = _change_count(tenant, by=1)
    if tenant.is_sandbox and live > SANDBOX_USER_LIMIT:
        raise DomainError(
            "sandbox_user_limit",
            _("The sandbox is limited to %(limit)d users.")
            % {"limit": SANDBOX_USER_LIMIT},
        )


def _change_count(tenant: Tenant, *, by: int) -> int:
    """Change the counter and return it; its row is locked until the transaction ends.

    One statement, which makes the row when there is none: two first users of a tenant
    can't both make it, and none is lost.
    """
    # GREATEST: the row's check also judges the row that is not inserted.
    ((live,),) = rows.fetch_rows(
        "INSERT INTO users_usercount AS kept (tenant_id, live)"
        " VALUES (%s, GREATEST(%s, 0))"
        " ON CONFLICT (tenant_id) DO UPDATE SET live = kept.live + %s"
        " RETURNING live",
        [tenant.pk, by, by],
    )
    return int(live)
