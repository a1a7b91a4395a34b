"""Reads of source priorities: of a user, else of the team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F, Q

from users.models import SourcePriority

if TYPE_CHECKING:
    from accounts.models import Tenant
    from users.models import User


def read_source_priority(
    *, tenant: Tenant, user: User | None = None
) -> SourcePriority | None:
    """Return the ranking of a user, or of the team; None where none is set."""
    stored: SourcePriority | None = (
        SourcePriority.objects.for_tenant(tenant).filter(user=user).first()
    )
    return stored


def find_user_source_ranking(user: User) -> tuple[str, ...]:
    """Return the slugs that count first for a user: its own ranking, else the team's.

    One query.
    """
    mine = SourcePriority.objects.for_tenant(user.tenant).filter(
        Q(user=user) | Q(user=None)
    )
    first = mine.order_by(F("user").asc(nulls_last=True)).first()
    return tuple(first.sources) if first else ()
