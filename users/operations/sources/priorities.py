"""Source priorities: rank sources for a team, or for one user in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.errors import Invalid
from users.models import SourcePriority
from users.queries import lock_user
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import User


@transaction.atomic
def save_source_priority(
    *, tenant: Tenant, actor: Actor, sources: Sequence[str], user: User | None = None
) -> None:
    """Store the ranking of a team, or of a user; an empty one removes it.

    A user without a ranking has the team's, and a team without one the usual: worn
    devices before phones before what was typed in. Raises: source_unknown and
    source_repeated (422); not_found (the user is deleted). Source: Contract 10
    (team.update_source_priorities); Ours: by user.
    """
    before: list[str] = []
    if unknown := [each for each in sources if each not in PROVIDERS]:
        raise Invalid(
            "source_unknown",
            _("Unknown source: %(source)s.") % {"source": unknown[0][:50]},
            "source_priority",
        )
    if len(set(sources)) != len(sources):
        raise Invalid("source_repeated", _("Name each source once."), "source_priority")
    user = lock_user(user) if user else None
    mine = SourcePriority.objects.for_tenant(tenant).filter(user=user)
    stored = mine.select_for_update().first()
    before = list(stored.sources) if stored else []
    if before == list(sources):
        return
    if not sources:
        mine.delete()
    else:
        SourcePriority.objects.for_tenant(tenant).update_or_create(
            tenant=tenant,
            user=user,
            defaults={"sources": list(sources), "updated_at": timezone.now()},
        )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="rank_sources",
        subject="source_priority",
        subject_id=user.uuid if user else tenant.pk,
        user_uuid=user.uuid if user else None,
        changes={"sources": [before, list(sources)]},
    )
