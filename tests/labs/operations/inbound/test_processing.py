from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import OperationalError
from psycopg import errors

from accounts.models import AuditEntry
from labs.models import InboundMessage, InboundReport, Order, ResultVersion
from labs.operations.inbound import reports
from labs.operations.inbound.processing import reprocess_malformed_lab_message
from labs.operations.inbound.repeated_failures import MAX_FAILURES
from labs.operations.orders.placing import cancel_order
from labs.queries.results.results import find_current_result_version
from labs.states.inbound import MatchStatus, MessageStatus, UnmatchedReason
from portal.lib.errors import DomainError, Unavailable
from portal.lib.slots import Work, hold_work_slot
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import make_lab, make_lab_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


def receive(order, *tests, **told):
    return take(order.tenant, make_oru(*tests, **told), lab=order.lab)


def status_of(order):
    return Order.objects.for_tenant(order.tenant).get(pk=order.pk).status


def report_of(message):
    return message.reports.get()


def texts(order):
    return {
        row.name: row.result
        for row in find_current_result_version(order=order).results.all()
    }


def test_results_go_to_the_order_of_their_number_and_person(order):
    message = receive(order, make_test(obx("112", flag="H"), placer=order.sample_id))

    report, version = report_of(message), find_current_result_version(order=order)
    assert (message.status, message.answer) == (MessageStatus.TAKEN, "AA")
    assert (message.control_id, message.kind) == ("C1", "ORU^R01")
    assert bytes(message.content) == b""
    assert (report.status, report.order_id) == (MatchStatus.MATCHED, order.pk)
    assert status_of(order) == "completed.walk_in_test.completed"
    (row,) = version.results.all()
    assert (row.name, row.result, row.unit) == ("Glucose", "112", "mg/dL")
    assert (row.loinc, row.source_interpretation) == ("2345-7", "H")
    assert row.interpretation == "abnormal"
    assert version.collected_at == datetime(2026, 2, 28, 13, 30, tzinfo=UTC)
    assert version.reported_at == datetime(2026, 3, 1, 16, 30, tzinfo=UTC)


def test_results_find_their_order_by_its_id_and_later_by_the_labs_own_number(order):
    receive(order, make_test(obx("1", status="P"), placer=str(order.pk), status="P"))
    again = receive(order, make_test(obx("2"), filler="F-1"), control_id="C2")

    assert report_of(again).order_id == order.pk
    assert texts(order) == {"Glucose": "2"}


def test_tests_that_arrive_one_by_one_complete_their_order_with_the_last(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant, codes=("A", "B"))
    first = make_test(obx("1"), code="A", placer=order.sample_id)
    second = make_test(
        obx("140", id="2951-2^Sodium^LN"), code="B", placer=order.sample_id
    )

    receive(order, first)
    between = status_of(order)
    receive(order, second, control_id="C2")

    assert between == "sample_with_lab.walk_in_test.partial_results"
    assert status_of(order) == "completed.walk_in_test.completed"
    assert texts(order) == {"Glucose": "1", "Sodium": "140"}


def test_a_correction_makes_a_version_and_what_is_impossible_is_missing(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    other = {"id": "2951-2^Sodium^LN"}
    receive(order, make_test(obx("91"), obx("140", **other), placer=order.sample_id))

    receive(
        order,
        make_test(
            obx("95", status="C"),
            obx("", status="X", **other),
            "NTE|1||Hemolysed",
            placer=order.sample_id,
            status="C",
        ),
        control_id="C2",
    )

    version = find_current_result_version(order=order)
    assert status_of(order) == "completed.walk_in_test.corrected"
    assert (version.number, version.is_correction) == (2, True)
    assert texts(order) == {"Glucose": "95"}
    assert [gap.note for gap in version.missing_results.all()] == ["Hemolysed"]


def test_a_message_that_comes_again_is_taken_once(order):
    test = make_test(obx(), placer=order.sample_id)

    first, second = receive(order, test), receive(order, test)

    assert first.pk == second.pk
    assert ResultVersion.objects.for_tenant(order.tenant).count() == 1
    assert InboundReport.objects.for_tenant(order.tenant).count() == 1


PID = "PID|1||77||{name}||{born}|{sex}"
ADA = {"name": "Example^Ada", "born": "19900517", "sex": "F"}


@pytest.mark.parametrize(
    "told",
    [
        {"name": "EXAMPLE^ADA"},
        {"name": "Exámple^Ada^Marie"},
        {"sex": "U"},
        {"sex": ""},
        {"born": "199005170930"},
    ],
    ids=range(5),
)
def test_a_person_agrees_in_any_spelling_of_case_accent_and_middle_name(order, told):
    pid = PID.format(**{**ADA, **told})

    message = receive(order, make_test(obx(), placer=order.sample_id), patient=pid)

    assert report_of(message).status == MatchStatus.MATCHED


@pytest.mark.parametrize(
    "told",
    [
        {"name": "Example^Eva"},
        {"name": "Other^Ada"},
        {"name": "Example"},
        {"name": ""},
        {"name": "Example^-"},
        {"born": "19900518"},
        {"born": "1990"},
        {"born": ""},
        {"sex": "M"},
    ],
    ids=range(9),
)
def test_results_of_somebody_else_wait_though_their_number_is_known(order, told):
    pid = PID.format(**{**ADA, **told})

    message = receive(order, make_test(obx(), placer=order.sample_id), patient=pid)

    report = report_of(message)
    assert (report.status, report.order_id) == (MatchStatus.UNMATCHED, None)
    assert report.reason == UnmatchedReason.PERSON_DIFFERS
    assert message.answer == "AA"
    assert find_current_result_version(order=order) is None


def test_results_of_no_several_or_other_orders_wait(alice_tenant, order):
    account = make_lab_account(tenant=alice_tenant, lab=order.lab)
    twin = make_order_sent_to_lab(tenant=alice_tenant)
    Order.objects.for_tenant(alice_tenant).filter(pk=twin.pk).update(lab=order.lab)
    both = make_test(obx(), placer=order.sample_id, filler=twin.sample_id)
    known = make_oru(make_test(obx(), placer=order.sample_id))

    none = make_unmatched(tenant=alice_tenant, lab=order.lab)
    several = report_of(receive(order, both))
    elsewhere = take(alice_tenant, known, lab=order.lab, account=account)
    other_lab = take(alice_tenant, known, lab=make_lab())

    assert none.reason == UnmatchedReason.NO_ORDER
    assert several.reason == UnmatchedReason.SEVERAL_ORDERS
    assert report_of(elsewhere).reason == UnmatchedReason.OTHER_ACCOUNT
    assert report_of(other_lab).reason == UnmatchedReason.NO_ORDER


def test_results_of_an_order_that_takes_none_wait(order):
    cancel_order(order=order, actor=ACTOR)

    report = report_of(receive(order, make_test(obx(), placer=order.sample_id)))

    assert report.reason == UnmatchedReason.NOT_EXPECTED
    assert report.status == MatchStatus.UNMATCHED
    assert find_current_result_version(order=order) is None


def test_another_teams_order_is_not_found(order, charlie_tenant):
    content = make_oru(make_test(obx(), placer=order.sample_id))

    message = take(charlie_tenant, content, lab=order.lab)

    assert report_of(message).reason == UnmatchedReason.NO_ORDER
    assert find_current_result_version(order=order) is None


def test_a_report_of_nothing_yet_is_matched_and_stores_nothing(order):
    message = receive(
        order, make_test(obx("", status="I"), placer=order.sample_id, status="I")
    )

    assert report_of(message).status == MatchStatus.MATCHED
    assert find_current_result_version(order=order) is None


@pytest.mark.parametrize(
    ("content", "answer", "code"),
    [
        (b"no message", "AE", "100"),
        (make_oru(), "AE", "101"),
        (make_oru(make_test()).replace(b"ORU^R01", b"ADT^A01"), "AR", "200"),
    ],
    ids=range(3),
)
def test_what_is_malformed_is_kept_whole_and_nothing_of_it_acted_on(
    order, content, answer, code
):
    message = take(order.tenant, content, lab=order.lab)

    assert message.status == MessageStatus.MALFORMED
    assert (message.answer, message.error_code) == (answer, code)
    assert bytes(message.content) == content
    assert message.reports.count() == 0


def test_production_takes_no_test_messages(alice_production, alice_tenant):
    raw = make_oru(make_test(obx()), processing_id="T")
    lab = make_lab()

    refused = take(alice_production, raw, lab=lab)
    taken = take(alice_tenant, raw, lab=lab)

    assert (refused.answer, refused.error_code) == ("AR", "202")
    assert taken.status == MessageStatus.TAKEN


def test_a_fault_of_ours_keeps_the_message_and_says_nothing_of_it_in_the_log(
    order, monkeypatch, caplog
):
    def break_down(**_):
        raise LookupError("Ada Example")

    monkeypatch.setattr(reports, "find_order_by_lab_report_numbers", break_down)

    message = receive(order, make_test(obx(), placer=order.sample_id))

    assert (message.status, message.error_code) == (MessageStatus.MALFORMED, "207")
    assert InboundReport.objects.for_tenant(order.tenant).count() == 0
    assert "LookupError" in caplog.text
    assert "Ada" not in caplog.text


def test_a_malformed_message_is_taken_once_it_can_be_read(order, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(reports, "find_order_by_lab_report_numbers", lambda **_: 1 / 0)
        message = receive(order, make_test(obx(), placer=order.sample_id))

    reprocess_malformed_lab_message(message=message, actor=ACTOR)

    assert message.status == MessageStatus.TAKEN
    assert report_of(message).status == MatchStatus.MATCHED
    assert texts(order) == {"Glucose": "91"}


def test_a_long_message_is_read_again_in_a_slot(alice_tenant):
    message = take(alice_tenant, b"no message" * 6_000, lab=make_lab())

    with (
        hold_work_slot(Work.STORED, tenant=alice_tenant),
        pytest.raises(Unavailable) as busy,
    ):
        reprocess_malformed_lab_message(message=message, actor=ACTOR)
    with pytest.raises(DomainError) as read:
        reprocess_malformed_lab_message(message=message, actor=ACTOR)

    kept = InboundMessage.objects.for_tenant(alice_tenant).get()
    assert (busy.value.code, read.value.code) == ("reader_busy", "still_malformed")
    assert kept.status == MessageStatus.MALFORMED


def test_what_is_still_malformed_stays_so(alice_tenant):
    message = take(alice_tenant, b"no message", lab=make_lab())

    with pytest.raises(DomainError) as caught:
        reprocess_malformed_lab_message(message=message, actor=ACTOR)

    assert caught.value.code == "still_malformed"
    kept = InboundMessage.objects.for_tenant(alice_tenant).get()
    assert kept.status == MessageStatus.MALFORMED


@pytest.mark.parametrize(
    ("said", "part", "status"),
    [
        ("AA", "", "taken"),
        ("AE", "", "refused"),
        ("AR", "", "refused"),
        ("AR", ".2", "refused"),
    ],
)
def test_what_a_lab_says_to_an_order_is_noted_and_not_answered(
    order, said, part, status
):
    raw = make_oru().replace(b"ORU^R01^ORU_R01", b"ACK^O21^ACK")
    raw += f"MSA|{said}|NW{order.sample_id}{part}\r".encode()

    message = take(order.tenant, raw, lab=order.lab)

    assert (message.status, message.answer) == (status, "")
    assert message.order_id == order.pk


@pytest.mark.parametrize(
    ("kind", "control", "status"),
    [
        ("ORL^O22^ORL_O22", "OK", "taken"),
        ("ORL^O22^ORL_O22", "UA", "refused"),
        ("ORR^O02", "OK", "taken"),
        ("ORR^O02", "UC", "refused"),
        ("ORR^O02", "OC", "refused"),
    ],
)
def test_a_response_that_declines_an_order_is_shown_though_it_accepts_the_message(
    order, kind, control, status
):
    raw = make_oru().replace(b"ORU^R01^ORU_R01", kind.encode())
    raw += f"MSA|AA|NW{order.sample_id}\rORC|{control}|{order.sample_id}\r".encode()

    message = take(order.tenant, raw, lab=order.lab)

    assert (message.status, message.answer, message.order_id) == (status, "", order.pk)


@pytest.mark.parametrize("kind", ["OML^O21^OML_O21", "ORM^O01", "ADT^A01"])
def test_an_order_or_another_message_is_refused_and_shown(order, kind):
    before = status_of(order)
    raw = make_oru(make_test(placer=order.sample_id))

    message = receive_kind(order, raw, kind)

    assert (message.status, message.answer) == (MessageStatus.MALFORMED, "AR")
    assert message.error_code == "200"
    assert message.reports.count() == 0
    assert status_of(order) == before


@pytest.mark.parametrize("fault", [errors.QueryCanceled, errors.DeadlockDetected])
def test_what_fails_each_time_is_held_after_some_tries_and_processed_later(
    order, monkeypatch, fault
):
    raw = make_test(obx(), placer=order.sample_id)
    with monkeypatch.context() as patched:
        patched.setattr(reports, "find_order_by_lab_report_numbers", fail_by(fault))
        for _ in range(MAX_FAILURES - 1):
            with pytest.raises(OperationalError):
                receive(order, raw)
            assert not InboundMessage.objects.for_tenant(order.tenant).exists()
        message = receive(order, raw)

    assert (message.status, message.answer) == (MessageStatus.MALFORMED, "AR")
    assert message.error_code == "207"
    assert receive(order, raw).pk == message.pk
    reprocess_malformed_lab_message(message=message, actor=ACTOR)
    assert texts(order) == {"Glucose": "91"}


def test_what_can_never_be_stored_is_held_at_once(order, monkeypatch):
    fail = fail_by(errors.ProgramLimitExceeded)
    monkeypatch.setattr(reports, "find_order_by_lab_report_numbers", fail)

    message = receive(order, make_test(obx(), placer=order.sample_id))

    assert (message.status, message.error_code) == (MessageStatus.MALFORMED, "207")


def test_a_database_that_is_away_refuses_nothing_however_long(order, monkeypatch):
    fail = fail_by(errors.AdminShutdown)
    with monkeypatch.context() as patched:
        patched.setattr(reports, "find_order_by_lab_report_numbers", fail)
        for _ in range(2 * MAX_FAILURES):
            with pytest.raises(OperationalError):
                receive(order, make_test(obx(), placer=order.sample_id))

    assert not InboundMessage.objects.for_tenant(order.tenant).exists()
    receive(order, make_test(obx(), placer=order.sample_id))
    assert texts(order) == {"Glucose": "91"}


def fail_by(fault):
    """As Django raises a fault of PostgreSQL's."""

    def fail(**_):
        raise OperationalError from fault()

    return fail


def receive_kind(order, raw, kind):
    raw = raw.replace(b"ORU^R01^ORU_R01", kind.encode())
    return take(order.tenant, raw, lab=order.lab)


def test_every_message_is_audited_without_what_it_says(order):
    receive(order, make_test(obx(), placer=order.sample_id))

    entry = AuditEntry.objects.for_tenant(order.tenant).get(verb="take_message")
    assert (entry.subject, entry.changes) == ("lab_message", {})
