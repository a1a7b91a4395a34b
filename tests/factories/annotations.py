"""Annotations of users, of nobody's life."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.factories.accounts import ACTOR
from users.models import Annotation, User
from users.operations.users.annotations import AnnotationRequest, add_annotation
from users.states import AnnotationKind

TRIP = AnnotationRequest(
    kind=AnnotationKind.TRAVEL,
    first_day=date(2026, 2, 24),
    last_day=date(2026, 2, 27),
    text="Lisbon to New York",
)


def make_annotation(
    user: User, request: AnnotationRequest = TRIP, actor: Any = ACTOR
) -> Annotation:
    return add_annotation(user=user, actor=actor, request=request)
