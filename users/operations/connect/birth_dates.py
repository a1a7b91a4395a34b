"""Confirm that whoever has a portal link is its user, by their birth date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, NotFound
from users.models import LinkSession
from users.queries import latest_user_info

if TYPE_CHECKING:
    from datetime import date

    from users.models import User

# Ours: of one link in its life; there are some 30,000 dates to guess from.
WRONG_BIRTH_DATES_MAX = 5


def can_confirm_birth_date(session: LinkSession) -> bool:
    """Return whether the user's birth date is known and tries are left."""
    left = session.wrong_birth_dates < WRONG_BIRTH_DATES_MAX
    return left and _find_birth_date(session.user) is not None


def confirm_birth_date(*, session: LinkSession, given: date) -> None:
    """Compare a birth date with that of a link's user, and count wrong ones.

    The link is locked meanwhile, so that calls at the same time share the same tries.
    Raises: link_unknown (404), also with no birth date known or no tries left;
    birth_date_wrong. Source: Ours: a link may have been forwarded, and what it opens
    with this leaves the team's hands.
    """
    with transaction.atomic():
        rows = LinkSession.objects.for_tenant(session.tenant).filter(pk=session.pk)
        locked: LinkSession | None = rows.select_for_update().first()
        known = _find_birth_date(session.user)
        if (
            locked is None
            or known is None
            or locked.wrong_birth_dates >= WRONG_BIRTH_DATES_MAX
        ):
            raise NotFound("link_unknown", _("This link is not valid."))
        is_right = known == given
        if not is_right:
            rows.update(wrong_birth_dates=locked.wrong_birth_dates + 1)
    # After the commit: a refusal that was rolled back would give the try back.
    if not is_right:
        session.wrong_birth_dates = locked.wrong_birth_dates + 1
        raise DomainError(
            "birth_date_wrong",
            _("This is not the birth date that we know."),
            "birth_date",
        )


def _find_birth_date(user: User) -> date | None:
    info = latest_user_info(user=user)
    known: date | None = (info.dob if info else None) or user.fallback_birth_date
    return known
