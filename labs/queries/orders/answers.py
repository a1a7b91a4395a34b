"""Reads of answers to order entry questions, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from labs.states.catalogue import QuestionType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import Marker, Order


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """An order entry question and its answer."""

    marker: str
    question: str
    answer: str


def list_order_answers(order: Order) -> list[AnsweredQuestion]:
    """List an order's answers in words, its markers loaded."""
    markers = {marker.pk: marker for marker in order.placed.markers}
    return [
        _answered_question(answer, markers.get(answer["marker_id"]))
        for answer in order.aoe_answers
    ]


def _answered_question(
    answer: Mapping[str, Any], marker: Marker | None
) -> AnsweredQuestion:
    questions = marker.aoe_questions if marker else []
    question = next((q for q in questions if q["id"] == answer["question_id"]), None)
    text = str(answer["answer"])
    if question and question["type"] in {
        QuestionType.CHOICE,
        QuestionType.MULTI_CHOICE,
    }:
        named = {choice["code"]: choice["value"] for choice in question["answers"]}
        text = ", ".join(named.get(code, code) for code in text.split(","))
    return AnsweredQuestion(
        marker=marker.name
        if marker
        else _("Marker %(id)s") % {"id": answer["marker_id"]},
        question=question["value"]
        if question
        else _("Question %(id)s") % {"id": answer["question_id"]},
        answer=text,
    )
