"""Mark results as reviewed: a clinician has seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.models import ResultReview, ResultVersion
from portal.lib.actor import ActorKind
from portal.lib.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor


class SeenResults(NamedTuple):
    """An order, and the number of the version of its results that was seen."""

    order_id: UUID
    number: int


@transaction.atomic
def mark_results_reviewed(
    *, tenant: Tenant, actor: Actor, seen: Sequence[SeenResults], name: str
) -> tuple[int, int]:
    """Mark the seen versions as reviewed; return how many were, and are outdated.

    Only what was seen counts: a version that the lab has replaced meanwhile is
    outdated and stays as it is. One that is reviewed already counts for nothing.
    `name` is the member's as people know it. Raises: actor_not_a_member (403);
    order_not_found (404) if an order has no such version. Source: Ours (spec silent).
    """
    if actor.kind != ActorKind.MEMBER:
        raise NotAllowed(
            "actor_not_a_member",
            _("Only a signed-in member can mark results as reviewed."),
        )
    marked = outdated = 0
    for order_id, number in sorted(set(seen)):
        versions = ResultVersion.objects.for_tenant(tenant).select_for_update(
            of=("self",)
        )
        version: ResultVersion | None = (
            versions.filter(
                order_id=order_id, number=number, order__user__deleted_at=None
            )
            .select_related("order__user")
            .first()
        )
        if version is None:
            raise NotFound("order_not_found", _("Order not found."))
        if not version.is_current:
            outdated += 1
            continue
        if ResultReview.objects.for_tenant(tenant).filter(version=version).exists():
            continue
        ResultReview(
            tenant=tenant,
            version=version,
            member_id=actor.key,
            member_name=name,
            reviewed_at=timezone.now(),
        ).save(force_insert=True)
        record_change(
            tenant=tenant,
            actor=actor,
            verb="review_results",
            subject="order",
            subject_id=order_id,
            user_uuid=version.order.user.uuid,
            changes={"version": number},
        )
        marked += 1
    return marked, outdated
