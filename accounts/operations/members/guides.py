"""Hide what guides a member on a page, such as a new team's checklist."""

from __future__ import annotations

from django.db import models, transaction
from django.utils.translation import gettext as _

from accounts.models import Member, Tenant
from portal.lib.errors import DomainError


class Guide(models.TextChoices):
    """What guides a member on a page until they hide it."""

    FIRST_STEPS = "first_steps"  # a team's checklist, by environment
    DESK_TOUR = "desk_tour"  # five steps of the review desk
    TIME_ZONE = "time_zone"  # the offer of the browser's time zone


def is_guide_hidden(*, member: Member, tenant: Tenant, guide: Guide) -> bool:
    """Return whether the member has hidden a guide."""
    return _build_key(tenant, guide) in member.hidden_guides


@transaction.atomic
def set_guide_hidden(
    *, member: Member, tenant: Tenant, guide: str, is_hidden: bool
) -> Member:
    """Hide a guide from a member, or show it again.

    Not audited: it changes nothing that others see. Raises: guide_unknown.
    Source: Ours: on every device, unlike what a browser keeps.
    """
    if guide not in Guide.values:
        raise DomainError("guide_unknown", _("Select a guide."), "guide")
    key = _build_key(tenant, Guide(guide))
    member = Member.objects.select_for_update().get(pk=member.pk)
    if is_hidden != (key in member.hidden_guides):
        others = [each for each in member.hidden_guides if each != key]
        member.hidden_guides = [*others, key] if is_hidden else others
        member.save(update_fields=["hidden_guides"])
    return member


def _build_key(tenant: Tenant, guide: Guide) -> str:
    return f"{guide}:{tenant.pk}" if guide == Guide.FIRST_STEPS else guide.value
