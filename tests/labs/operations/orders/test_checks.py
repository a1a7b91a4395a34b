from __future__ import annotations

from datetime import date

import pytest
import time_machine

from labs.operations.orders.checks import (
    require_adult_or_permitted_minor,
    require_start_date_not_past,
    require_valid_order_answers,
)
from tests.factories.labs import PATIENT, make_lab, make_marker
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db

PROXY = {"first_name": "Marta", "last_name": "Example"}


def question(number, **fields):
    return {
        "id": number,
        "required": True,
        "code": "weight",
        "value": "Weight?",
        "type": "numeric",
        "sequence": number,
        "answers": [],
        "constraint": None,
        "default": None,
        **fields,
    }


def answer(marker, number, text):
    return {"marker_id": marker.pk, "question_id": number, "answer": text}


@pytest.fixture(autouse=True)
def _today():
    with time_machine.travel("2026-03-02T23:30:00Z", tick=False):
        yield


@pytest.mark.parametrize(
    ("day", "past"),
    [(None, False), (date(2026, 3, 2), False), (date(2026, 3, 1), True)],
)
def test_no_order_starts_in_the_past(alice_tenant, day, past):
    if past:
        with refused(alice_tenant, "activate_by_past"):
            require_start_date_not_past(day)
    else:
        require_start_date_not_past(day)


@pytest.mark.parametrize(
    ("born", "enabled", "proxy", "code"),
    [
        ("2008-03-02", False, None, None),
        ("2008-03-03", False, PROXY, "minor_not_allowed"),
        ("2008-03-03", True, None, "medical_proxy_missing"),
        ("2008-03-03", True, PROXY, None),
        ("2008-02-29T00:00:00+00:00", False, None, None),
    ],
)
def test_a_minor_needs_the_setting_and_a_proxy(
    alice_tenant, born, enabled, proxy, code
):
    alice_tenant.minor_ordering_enabled = enabled
    details = {**PATIENT, "dob": born, "medical_proxy": proxy}

    if code:
        with refused(alice_tenant, code):
            require_adult_or_permitted_minor(alice_tenant, details)
    else:
        require_adult_or_permitted_minor(alice_tenant, details)


def test_required_questions_are_answered_except_fasting(alice_tenant):
    marker = make_marker(
        lab=make_lab(),
        aoe_questions=[
            question(1),
            question(2, required=False),
            question(3, code="fasting"),
        ],
    )

    require_valid_order_answers([marker], [answer(marker, 1, "70")])
    for given in ([], [answer(marker, 1, "  ")]):
        with refused(alice_tenant, "aoe_answer_missing") as caught:
            require_valid_order_answers([marker], given)
        assert marker.name in caught.value.message


def test_choices_are_answered_by_their_codes(alice_tenant):
    choices = [
        {"id": 1, "code": "Y", "value": "Yes"},
        {"id": 2, "code": "N", "value": "No"},
    ]
    marker = make_marker(
        lab=make_lab(),
        aoe_questions=[
            question(1, type="choice", answers=choices),
            question(2, type="multi_choice", answers=choices, required=False),
        ],
    )

    require_valid_order_answers(
        [marker], [answer(marker, 1, "Y"), answer(marker, 2, "Y,N")]
    )
    for given in (
        [answer(marker, 1, "Yes")],
        [answer(marker, 1, "Y"), answer(marker, 2, "Y,X")],
        [answer(marker, 1, "Y"), answer(marker, 9, "Y")],
    ):
        with refused(alice_tenant, "aoe_answer_unknown"):
            require_valid_order_answers([marker], given)
