"""Reads of a user's links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from users.models import LinkSession

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet

    from users.models import User


def get_connect_link(*, user: User, session_id: UUID) -> LinkSession:
    """Return a link of this user, open or ended. Raises: not_found."""
    session = _links_of(user).filter(uuid=session_id).first()
    if session is None:
        raise NotFound("not_found", _("Link not found."))
    session.tenant, session.user = user.tenant, user
    return session


def list_open_connect_links(user: User) -> list[LinkSession]:
    """Return the open links of a user, newest first."""
    works = _links_of(user).filter(ended_at=None, expires_at__gt=timezone.now())
    return list(works.order_by("-created_at", "-pk"))


def _links_of(user: User) -> QuerySet[LinkSession]:
    rows: QuerySet[LinkSession] = LinkSession.objects.for_tenant(user.tenant)
    return rows.filter(user=user)
