"""Reads of a user's annotations.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import NotFound
from portal.ui.dates import write_date
from users.models import Annotation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from uuid import UUID

    from users.models import User


@dataclass(frozen=True, slots=True)
class NumberedAnnotation:
    """An annotation with its number on a chart."""

    number: int
    annotation: Annotation

    @property
    def days(self) -> str:
        """Return its days in words."""
        return name_days(self.annotation.first_day, self.annotation.last_day)

    @property
    def kind(self) -> str:
        """Return its kind in words; of an unknown one the word that is stored."""
        return str(self.annotation.get_kind_display())

    @property
    def title(self) -> str:
        """Return all of it in one line."""
        return _("%(kind)s, %(days)s: %(text)s") % {
            "kind": self.kind,
            "days": self.days,
            "text": self.annotation.text,
        }

    @property
    def author(self) -> str:
        """Return who wrote it; empty for a member who left."""
        member = self.annotation.member
        return (member.name or member.email) if member else ""


def list_annotations(
    *, user: User, first: date | None = None, last: date | None = None
) -> list[Annotation]:
    """Return the annotations that reach into the days, the earliest first; one query.

    Both days are included; None has no bound.
    """
    mine = Annotation.objects.for_tenant(user.tenant).filter(user=user)
    if first is not None:
        mine = mine.filter(last_day__gte=first)
    if last is not None:
        mine = mine.filter(first_day__lte=last)
    return list(mine.select_related("member").order_by("first_day", "pk"))


def get_annotation(*, user: User, annotation_id: UUID) -> Annotation:
    """Return an annotation of a user. Raises: not_found."""
    mine = Annotation.objects.for_tenant(user.tenant).filter(user=user)
    found: Annotation | None = mine.filter(uuid=annotation_id).first()
    if found is None:
        raise NotFound("not_found", _("Annotation not found."))
    return found


def number_annotations(annotations: Sequence[Annotation]) -> list[NumberedAnnotation]:
    """Number annotations from 1, in their order."""
    return [NumberedAnnotation(*each) for each in enumerate(annotations, 1)]


def name_days(first: date, last: date) -> str:
    """Return a day or a span of days in words, as short as they allow."""
    end = write_date(last, "j M Y")
    if first == last:
        return end
    start = "j"
    if (first.year, first.month) != (last.year, last.month):
        start += " M"
    if first.year != last.year:
        start += " Y"
    return _("%(first)s to %(last)s") % {
        "first": write_date(first, start),
        "last": end,
    }
