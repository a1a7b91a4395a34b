"""Checks of an order's patient, start date and answers.

The checks are pure functions of the request.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext as _

from labs.states.catalogue import QuestionType
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from labs.models import Marker

ADULT_YEARS = 18
# A question with this code duplicates the panel's `fasting`.
_FASTING = "fasting"


def require_start_date_not_past(day: date | None) -> None:
    """Refuse a start in the past. Raises: activate_by_past."""
    if day is not None and day < timezone.now().date():
        raise DomainError(
            "activate_by_past", _("Choose today or a later date."), "activate_by"
        )


def require_adult_or_permitted_minor(
    tenant: Tenant, details: Mapping[str, Any]
) -> None:
    """Refuse a minor without permission or medical proxy.

    Raises: minor_not_allowed, medical_proxy_missing. Source: Contract 6.6.
    """
    born = date.fromisoformat(str(details["dob"])[:10])
    today = timezone.now().date()
    had_birthday = (today.month, today.day) >= (born.month, born.day)
    if today.year - born.year - (not had_birthday) >= ADULT_YEARS:
        return
    if not tenant.minor_ordering_enabled:
        raise DomainError(
            "minor_not_allowed",
            _("The patient is a minor: this team does not accept minors."),
            "dob",
        )
    if not details.get("medical_proxy"):
        raise DomainError(
            "medical_proxy_missing",
            _("The patient is a minor: send medical_proxy."),
            "medical_proxy",
        )


def require_valid_order_answers(
    markers: Sequence[Marker], answers: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse missing required answers and answers to unknown questions.

    Choices are answered by their code, several with commas between. Raises:
    aoe_answer_missing, aoe_answer_unknown. Source: Contract 6.6.
    """
    answer_texts = {
        (a["marker_id"], a["question_id"]): str(a["answer"]) for a in answers
    }
    questions = {
        (marker.pk, question["id"]): (marker, question)
        for marker in markers
        for question in marker.aoe_questions
    }
    if answer_texts.keys() - questions.keys():
        raise DomainError(
            "aoe_answer_unknown",
            _("One of the answers belongs to no question of these tests."),
            "aoe_answers",
        )
    for key, (marker, question) in questions.items():
        answer = answer_texts.get(key, "").strip()
        if not answer:
            if question["required"] and question["code"] != _FASTING:
                raise DomainError(
                    "aoe_answer_missing",
                    _("Answer the question of %(marker)s: %(question)s")
                    % {"marker": marker.name, "question": question["value"]},
                    "aoe_answers",
                )
            continue
        if question["type"] in {QuestionType.CHOICE, QuestionType.MULTI_CHOICE}:
            codes = {choice["code"] for choice in question["answers"]}
            if set(answer.split(",")) - codes:
                raise DomainError(
                    "aoe_answer_unknown",
                    _("Answer the question of %(marker)s with one of: %(codes)s.")
                    % {"marker": marker.name, "codes": ", ".join(sorted(codes))},
                    "aoe_answers",
                )
