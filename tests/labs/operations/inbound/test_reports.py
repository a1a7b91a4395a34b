from __future__ import annotations

import pytest
from django.core import mail

from labs.models import CriticalAlert, InboundReport, Order, ResultVersion
from labs.operations.inbound.files import build_stored_message_acknowledgement
from labs.operations.inbound.review import (
    match_lab_report_manually,
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.operations.orders.placing import cancel_order
from labs.queries.inbound import count_lab_messages_and_reports_to_review
from labs.queries.results.results import find_current_result_version
from labs.states.inbound import MatchStatus, MessageStatus, UnmatchedReason
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, take
from tests.factories.labs import make_lab, make_lab_account
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db

SODIUM = {"id": "2951-2^Sodium^LN", "unit": "mmol/L", "range": "136-145"}
WHY = "The lab confirmed it by phone."


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


def receive(order, *tests, **told):
    return take(order.tenant, make_oru(*tests, **told), lab=order.lab)


def half_certain(order, **fields):
    return make_test(
        obx("91"),
        obx("170", **{"status": "Q", **SODIUM, **fields}),
        "NTE|1||Repeat this",
        placer=order.sample_id,
    )


def held_of(order):
    rows = InboundReport.objects.for_tenant(order.tenant)
    row = rows.get(reason=UnmatchedReason.HELD_LINES)
    row.tenant = order.tenant
    return row


def status_of(order):
    return Order.objects.for_tenant(order.tenant).get(pk=order.pk).status


def answer(message):
    lines = build_stored_message_acknowledgement(message).decode().split("\r")
    return [line for line in lines if line[:3] in {"MSA", "ERR"}]


def values(order):
    version = find_current_result_version(order=order)
    return (
        version.number,
        {row.name: row.result for row in version.results.all()},
        {gap.name: gap.note for gap in version.missing_results.all()},
    )


def test_what_is_certain_goes_to_the_order_and_the_rest_waits(order):
    message = receive(order, half_certain(order))

    matched, held = message.reports.order_by("position")
    assert (message.status, message.answer) == (MessageStatus.TAKEN, "AA")
    assert (matched.status, matched.order_id) == (MatchStatus.MATCHED, order.pk)
    assert (held.status, held.order_id) == (MatchStatus.UNMATCHED, None)
    assert held.reason == UnmatchedReason.HELD_LINES
    assert held.doubts == [
        {
            "code": "103",
            "place": "OBX-11",
            "number": 2,
            "says": "OBX-11 is not in HL7 table 0085.",
        }
    ]
    assert "|170|" in held.text
    assert "|91|" not in held.text
    assert "|170|" in matched.text
    assert values(order) == (1, {"Glucose": "91"}, {})
    # Held results are still to come.
    assert status_of(order) == "sample_with_lab.walk_in_test.partial_results"
    waiting = count_lab_messages_and_reports_to_review(tenant=order.tenant)
    assert (waiting.reports, waiting.since) == (1, message.received_at)


def test_the_acknowledgement_lists_what_is_held_and_stays_the_same(order):
    message = receive(order, half_certain(order))
    first = build_stored_message_acknowledgement(message)

    match_lab_report_manually(
        report=held_of(order), actor=ACTOR, order_id=order.pk, why=WHY
    )

    assert answer(message) == [
        "MSA|AA|C1",
        "ERR||OBX^2^11|103^Table value not found^HL70357|W"
        "||||OBX-11 is not in HL7 table 0085.",
    ]
    assert build_stored_message_acknowledgement(message) == first


def test_a_lab_is_told_of_an_error_by_its_accounts_setting(alice_tenant):
    lab = make_lab()
    account = make_lab_account(tenant=alice_tenant, lab=lab)
    account.held_lines_answer = "AE"
    account.save()
    bad = make_oru(make_test(obx("1", status="Q")))
    good = make_oru(make_test(obx("1")), control_id="C2")

    told = take(alice_tenant, bad, lab=lab, account=account)
    not_told = take(alice_tenant, good, lab=lab, account=account)

    assert (told.status, answer(told)[0]) == (MessageStatus.TAKEN, "MSA|AE|C1")
    assert answer(told)[1].split("|")[4] == "E"
    assert answer(not_told) == ["MSA|AA|C2"]
    assert told.reports.get().status == MatchStatus.UNMATCHED


def test_a_person_accepts_held_lines_as_missing_with_the_labs_words(order):
    receive(order, half_certain(order))

    match_lab_report_manually(
        report=held_of(order), actor=ACTOR, order_id=order.pk, why=WHY
    )

    assert values(order) == (
        2,
        {"Glucose": "91"},
        {
            "Sodium": "The lab's message was unclear: OBX-11 is not in HL7 table 0085."
            " It reads: 170 mmol/L\nRepeat this"
        },
    )
    assert status_of(order) == "completed.walk_in_test.completed"


def test_held_lines_never_replace_a_result_that_came_meanwhile(order):
    receive(order, half_certain(order))
    receive(
        order,
        make_test(obx("91"), obx("140", **SODIUM), placer=order.sample_id),
        control_id="C2",
    )

    match_lab_report_manually(
        report=held_of(order), actor=ACTOR, order_id=order.pk, why=WHY
    )

    assert values(order) == (2, {"Glucose": "91", "Sodium": "140"}, {})
    assert status_of(order) == "completed.walk_in_test.completed"


def test_held_lines_are_rejected_and_put_back_and_change_no_order(order):
    receive(order, half_certain(order))
    before = (values(order), status_of(order))
    sent = emitted_types(order.tenant)
    row = held_of(order)

    reject_lab_report(report=row, actor=ACTOR, why=WHY)
    restore_rejected_lab_report(report=row, actor=ACTOR)

    assert held_of(order).status == MatchStatus.UNMATCHED
    assert (values(order), status_of(order)) == before
    told = emitted_types(order.tenant)
    assert told == [*sent, *["labtest.match_review.updated"] * 2]


def test_held_lines_of_a_report_without_order_are_held_again_once_it_is_matched(order):
    message = receive(order, half_certain(order), patient="PID|1||77||Other^Ada")
    whole = message.reports.get()
    whole.tenant = order.tenant
    assert (whole.reason, len(whole.doubts)) == (UnmatchedReason.PERSON_DIFFERS, 1)
    told = answer(message)

    match_lab_report_manually(
        report=whole, actor=ACTOR, order_id=order.pk, why="Married."
    )

    assert values(order) == (1, {"Glucose": "91"}, {})
    assert held_of(order).doubts[0]["number"] == 2
    assert message.reports.get(position=0).doubts == []
    assert answer(message) == told


def test_an_order_that_takes_no_results_holds_the_report_whole(order):
    cancel_order(order=order, actor=ACTOR)

    message = receive(order, half_certain(order))

    row = message.reports.get()
    assert (row.reason, row.status) == ("not_expected", MatchStatus.UNMATCHED)
    assert len(row.doubts) == 1
    assert ResultVersion.objects.for_tenant(order.tenant).count() == 0


def test_held_lines_are_refused_by_an_order_that_takes_no_results(order, alice_tenant):
    receive(order, half_certain(order))
    other = make_order_sent_to_lab(tenant=alice_tenant)
    Order.objects.for_tenant(alice_tenant).filter(pk=other.pk).update(lab=order.lab)
    cancel_order(order=other, actor=ACTOR)
    mail.outbox.clear()

    with pytest.raises(DomainError) as caught:
        match_lab_report_manually(
            report=held_of(order), actor=ACTOR, order_id=other.pk, why=WHY
        )

    assert caught.value.code == "results_not_expected"
    assert held_of(order).status == MatchStatus.UNMATCHED
    assert find_current_result_version(order=other) is None
    assert mail.outbox == []


def test_a_critical_result_in_doubt_starts_the_clock(order):
    receive(order, half_certain(order, flag="HH"))

    row = held_of(order)
    alert = CriticalAlert.objects.for_tenant(order.tenant).get()
    assert row.alert_id == alert.pk
    assert [one["name"] for one in row.critical_results] == ["Sodium"]
    with pytest.raises(DomainError) as caught:
        reject_lab_report(report=row, actor=ACTOR, why=WHY)
    assert caught.value.code == "critical_not_acknowledged"


def test_every_line_of_a_message_is_in_one_of_its_reports(order):
    raw = make_oru(
        ("ZPD|1", "OBX|1|NM|A^A^L||5||||||F", *half_certain(order), "ZZZ|last"),
        ("OBR|2||F-9|", obx("7"), "ORC|RE"),
    )

    message = take(order.tenant, raw, lab=order.lab)

    told = "".join(row.text for row in message.reports.all())
    missing = [line for line in raw.decode().split("\r") if line not in told]
    assert missing == []


def test_an_error_names_at_most_a_hundred_lines(order):
    lines = [obx(str(n), id=f"{n}^N^L", status="Q") for n in range(150)]

    message = receive(order, make_test(*lines, placer=order.sample_id))

    assert len(answer(message)) == 101
    row = held_of(order)
    assert len(row.doubts) == 100
    assert all(f"|{n}^N^L|" in row.text for n in range(150))


def test_a_reading_in_place_of_a_value_is_a_missing_result(order):
    receive(
        order,
        make_test(
            obx("QNS", type="ST"),
            obx("DNR.", type="ST", **SODIUM),
            obx("See note", type="ST", id="K^Potassium^L"),
            "NTE|1||Hemolyzed, 5.9",
            placer=order.sample_id,
        ),
    )

    version = find_current_result_version(order=order)
    gaps = {
        gap.name: (gap.failure_type, gap.note) for gap in version.missing_results.all()
    }
    (row,) = version.results.all()
    assert gaps == {
        "Glucose": ("quantity_not_sufficient_failure", "QNS"),
        "Sodium": ("unknown_failure", "DNR."),
    }
    assert (row.result, row.notes) == ("See note", "Hemolyzed, 5.9")


def test_notes_reach_the_order_from_each_level(order):
    receive(
        order,
        (
            "NTE|1||Patient fasted",
            *make_test(
                obx("", status="X"), obx("140", **SODIUM), placer=order.sample_id
            ),
        ),
        (
            f"OBR|2|{order.sample_id}|F-1|CULT^Culture^L" + "|" * 21 + "F",
            "NTE|1||No growth",
        ),
    )

    version = find_current_result_version(order=order)
    assert {gap.name: gap.note for gap in version.missing_results.all()} == {
        "Glucose": "The lab sent this result without a value.\nPatient fasted",
        "Culture": "No growth",
    }
