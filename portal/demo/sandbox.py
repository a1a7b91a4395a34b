"""Demo data in a customer's sandbox: ask for it, load it, remove it.

Must not be here: what the demo data is (portal.demo.data).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import Tenant
from accounts.operations.audit import record_change
from portal.demo.data import ACTOR, TEAMS, load_people
from portal.demo.models import DemoData
from portal.lib.errors import DomainError, NotAllowed, NotFound
from portal.lib.jobs import enqueue
from users.operations.users import SANDBOX_USER_LIMIT, delete_user, erase_user
from users.queries import user_count, user_overview

if TYPE_CHECKING:
    from uuid import UUID

    from portal.lib.actor import Actor

LOAD_JOB = "portal.load_demo_data"
REMOVE_JOB = "portal.remove_demo_data"
# Before each client_user_id, so that demo users are told apart wherever they appear.
PREFIX = "demo_"
_, PEOPLE = TEAMS["demo"]


def demo_data_of(*, tenant: Tenant) -> DemoData | None:
    """The demo data of a tenant, if it has any."""
    found: DemoData | None = DemoData.objects.for_tenant(tenant).first()
    return found


@transaction.atomic
def ask_for_demo_data(*, tenant: Tenant, actor: Actor) -> DemoData:
    """Have demo data loaded into a sandbox; where there is some, nothing happens.

    Raises: sandbox_only (403); sandbox_user_limit. Source: Ours (a newcomer sees every
    screen with something on it before sending anything).
    """
    if not tenant.is_sandbox:
        raise NotAllowed("sandbox_only", "Demo data is for the sandbox alone.")
    demo: DemoData
    demo, is_new = DemoData.objects.for_tenant(tenant).get_or_create(tenant=tenant)
    if not is_new:
        return demo
    if user_count(tenant=tenant) + len(PEOPLE) > SANDBOX_USER_LIMIT:
        raise DomainError(
            "sandbox_user_limit",
            f"The sandbox holds at most {SANDBOX_USER_LIMIT} users, and demo data needs"
            f" room for {len(PEOPLE)}.",
        )
    _record(tenant, actor, "ask_for_demo_data")
    enqueue(LOAD_JOB, tenant=tenant, lock=_lock(tenant.pk))
    return demo


@transaction.atomic
def ask_to_remove_demo_data(*, tenant: Tenant, actor: Actor) -> DemoData:
    """Have the demo users of a sandbox erased at once, and nothing else.

    Raises: no_demo_data (404); demo_data_busy. Source: Ours: made-up people need no
    time to undo.
    """
    rows = DemoData.objects.for_tenant(tenant).select_for_update()
    demo: DemoData | None = rows.first()
    if demo is None:
        raise NotFound("no_demo_data", "There is no demo data here.")
    if demo.is_busy:
        raise DomainError("demo_data_busy", "The demo data is being worked on.")
    demo.removal_asked_at = timezone.now()
    demo.save(update_fields=["removal_asked_at"])
    _record(tenant, actor, "ask_to_remove_demo_data")
    enqueue(REMOVE_JOB, tenant=tenant, lock=_lock(tenant.pk))
    return demo


def load_demo_sandbox(*, tenant_pk: int) -> None:
    """Load what was asked for; what the worker runs, safe to repeat."""
    tenant = _tenant(tenant_pk)
    demo = demo_data_of(tenant=tenant)
    if demo is None or demo.loaded_at is not None:
        return
    load_people(tenant=tenant, people=PEOPLE, prefix=PREFIX)
    end_loading(tenant_pk=tenant_pk)


def end_loading(*, tenant_pk: int) -> None:
    """Say that loading is over, also where no run could finish it."""
    rows = DemoData.objects.for_tenant(_tenant(tenant_pk)).filter(loaded_at=None)
    rows.update(loaded_at=timezone.now())


def remove_demo_sandbox(*, tenant_pk: int) -> None:
    """Erase the demo users; what the worker runs, safe to repeat."""
    tenant = _tenant(tenant_pk)
    demo = demo_data_of(tenant=tenant)
    if demo is None or demo.removal_asked_at is None:
        return
    for user_uuid in demo.user_uuids:
        _erase(tenant, user_uuid)
    demo.delete()


def end_removal(*, tenant_pk: int) -> None:
    """Let the removal be asked for again, where no run could finish it."""
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
