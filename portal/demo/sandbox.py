"""Load demo data into a customer's sandbox, and remove it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from portal.demo.data import ACTOR, TEAMS, create_demo_users
from portal.demo.models import DemoData
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.jobs.jobs import enqueue_job
from users.operations.users.users import SANDBOX_USER_LIMIT, delete_user, erase_user
from users.queries import count_live_users, user_overview

if TYPE_CHECKING:
    from uuid import UUID

    from portal.lib.actor import Actor

LOAD_JOB = "portal.load_demo_data"
REMOVE_JOB = "portal.remove_demo_data"
# Before each client_user_id, so that demo users are recognized wherever they appear.
PREFIX = "demo_"
PEOPLE = TEAMS["demo"][1]


def find_demo_data(*, tenant: Tenant) -> DemoData | None:
    """Return the demo data of a tenant, None where it has none."""
    found: DemoData | None = DemoData.objects.for_tenant(tenant).first()
    return found


@transaction.atomic
def request_demo_data(*, tenant: Tenant, actor: Actor) -> DemoData:
    """Start loading demo data into a sandbox, unless it has some.

    Raises: sandbox_only (403); sandbox_user_limit. Source: Ours (a newcomer sees every
    screen with something on it before sending anything).
    """
    if not tenant.is_sandbox:
        raise NotAllowed(
            "sandbox_only", _("Demo data can be loaded into the sandbox only.")
        )
    demo: DemoData
    demo, is_new = DemoData.objects.for_tenant(tenant).get_or_create(tenant=tenant)
    if not is_new:
        return demo
    if count_live_users(tenant=tenant) + len(PEOPLE) > SANDBOX_USER_LIMIT:
        raise DomainError(
            "sandbox_user_limit",
            _(
                "The sandbox holds at most %(limit)d users, and demo data adds"
                " %(added)d. Delete users first."
            )
            % {"limit": SANDBOX_USER_LIMIT, "added": len(PEOPLE)},
        )
    _record(tenant, actor, "ask_for_demo_data")
    enqueue_job(LOAD_JOB, tenant=tenant, lock=_lock(tenant.pk))
    return demo


@transaction.atomic
def request_demo_data_removal(*, tenant: Tenant, actor: Actor) -> DemoData:
    """Start erasing the demo users of a sandbox, without the usual grace period.

    Raises: no_demo_data (404); demo_data_busy. Source: Ours: made-up people need no
    time to undo.
    """
    rows = DemoData.objects.for_tenant(tenant).select_for_update()
    demo: DemoData | None = rows.first()
    if demo is None:
        raise NotFound("no_demo_data", _("This environment has no demo data."))
    if demo.is_busy:
        raise DomainError(
            "demo_data_busy",
            _("The demo data is still being loaded or removed. Try again shortly."),
        )
    demo.removal_asked_at = timezone.now()
    demo.save(update_fields=["removal_asked_at"])
    _record(tenant, actor, "ask_to_remove_demo_data")
    enqueue_job(REMOVE_JOB, tenant=tenant, lock=_lock(tenant.pk))
    return demo


def load_requested_demo_data(*, tenant_pk: int) -> None:
    """Load the requested demo data, in the worker; safe to repeat."""
    tenant = _tenant(tenant_pk)
    demo = find_demo_data(tenant=tenant)
    if demo is None or demo.loaded_at is not None:
        return
    create_demo_users(tenant=tenant, people=PEOPLE, prefix=PREFIX)
    mark_demo_loading_finished(tenant_pk=tenant_pk)


def mark_demo_loading_finished(*, tenant_pk: int) -> None:
    """Mark the loading as finished, also after a run that failed."""
    rows = DemoData.objects.for_tenant(_tenant(tenant_pk)).filter(loaded_at=None)
    rows.update(loaded_at=timezone.now())


def erase_demo_users(*, tenant_pk: int) -> None:
    """Erase the demo users, in the worker; safe to repeat."""
    tenant = _tenant(tenant_pk)
    demo = find_demo_data(tenant=tenant)
    if demo is None or demo.removal_asked_at is None:
        return
    for user_uuid in demo.user_uuids:
        _erase(tenant, user_uuid)
    demo.delete()


def allow_demo_removal_again(*, tenant_pk: int) -> None:
    """Allow the removal to be requested again after a run that failed."""
    rows = DemoData.objects.for_tenant(_tenant(tenant_pk))
    rows.update(removal_asked_at=None)


@transaction.atomic
def _erase(tenant: Tenant, user_uuid: UUID) -> None:
    try:
        user = user_overview(tenant=tenant, user_id=user_uuid).user
    except NotFound:
        pass  # deleted by hand before, and perhaps erased already
    else:
        delete_user(user=user, actor=ACTOR)
    erase_user(tenant=tenant, actor=ACTOR, user_uuid=user_uuid, grace=timedelta(0))


def _tenant(tenant_pk: int) -> Tenant:
    return Tenant.objects.select_related("team").get(pk=tenant_pk)


def _lock(tenant_pk: int) -> str:
    return f"demo_data:{tenant_pk}"


def _record(tenant: Tenant, actor: Actor, verb: str) -> None:
    record_change(
        tenant=tenant,
        actor=actor,
        verb=verb,
        subject="demo_data",
        subject_id=tenant.pk,
        changes={"users": len(PEOPLE)},
    )
