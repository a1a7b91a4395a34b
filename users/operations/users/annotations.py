"""Annotations of a user: add, change and delete them.

Their text is health data, so that the audit log names changed fields alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.actor import ActorKind
from portal.lib.errors import DomainError
from users.models import Annotation
from users.queries import lock_user
from users.queries.data.annotations import get_annotation

if TYPE_CHECKING:
    from uuid import UUID

    from portal.lib.actor import Actor
    from users.models import User
    from users.states import AnnotationKind

# Ours: what the pages of one user still read at once.
ANNOTATIONS_MAX = 1_000
EARLIEST_DAY = date(1970, 1, 1)
# Ours: a journey or a course of doses that is planned.
AHEAD = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class AnnotationRequest:
    """An annotation as entered; the days are the user's, both included."""

    kind: AnnotationKind
    first_day: date
    last_day: date
    text: str


@transaction.atomic
def add_annotation(
    *, user: User, actor: Actor, request: AnnotationRequest
) -> Annotation:
    """Store an annotation of a live user.

    Raises: not_found; ends_before_start, day_out_of_range, text_missing,
    too_many_annotations. Source: Ours.
    """
    user = lock_user(user)
    _require_valid(request)
    mine = Annotation.objects.for_tenant(user.tenant).filter(user=user)
    if mine.count() >= ANNOTATIONS_MAX:
        raise DomainError(
            "too_many_annotations",
            _("A user has at most %(number)d annotations. Delete old ones first.")
            % {"number": ANNOTATIONS_MAX},
        )
    now = timezone.now()
    annotation = Annotation(
        tenant=user.tenant,
        user=user,
        kind=request.kind,
        first_day=request.first_day,
        last_day=request.last_day,
        text=request.text.strip(),
        member_id=actor.key if actor.kind == ActorKind.MEMBER else None,
        created_at=now,
        updated_at=now,
    )
    annotation.save(force_insert=True)
    _record(user, actor, "add_annotation", annotation)
    return annotation


@transaction.atomic
def change_annotation(
    *, user: User, actor: Actor, annotation_id: UUID, request: AnnotationRequest
) -> Annotation:
    """Replace what an annotation says; the author stays.

    Raises: not_found; those of `add_annotation`.
    """
    user = lock_user(user)
    annotation = get_annotation(user=user, annotation_id=annotation_id)
    _require_valid(request)
    values = {
        "kind": request.kind,
        "first_day": request.first_day,
        "last_day": request.last_day,
        "text": request.text.strip(),
    }
    changed = [name for name, to in values.items() if getattr(annotation, name) != to]
    if not changed:
        return annotation
    for name in changed:
        setattr(annotation, name, values[name])
    annotation.updated_at = timezone.now()
    annotation.save(update_fields=[*changed, "updated_at"])
    _record(user, actor, "change_annotation", annotation, changed)
    return annotation


@transaction.atomic
def delete_annotation(*, user: User, actor: Actor, annotation_id: UUID) -> None:
    """Delete an annotation. Raises: not_found."""
    user = lock_user(user)
    annotation = get_annotation(user=user, annotation_id=annotation_id)
    annotation.delete()
    _record(user, actor, "delete_annotation", annotation)


def _require_valid(request: AnnotationRequest) -> None:
    if request.last_day < request.first_day:
        raise DomainError(
            "ends_before_start", _("Enter a last day on or after the first day.")
        )
    latest = timezone.now().date() + AHEAD
    if request.first_day < EARLIEST_DAY or request.last_day > latest:
        raise DomainError(
            "day_out_of_range",
            _("Enter days from %(first)s to %(last)s.")
            % {"first": EARLIEST_DAY.isoformat(), "last": latest.isoformat()},
        )
    if not request.text.strip():
        raise DomainError("text_missing", _("Enter what happened."))


def _record(
    user: User,
    actor: Actor,
    verb: str,
    annotation: Annotation,
    fields: list[str] | None = None,
) -> None:
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb=verb,
        subject="annotation",
        subject_id=annotation.uuid,
        user_uuid=user.uuid,
        changes={"fields": fields} if fields else None,
    )
