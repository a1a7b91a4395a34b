from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from labs.gateways.hl7.messages import (
    MalformedMessage,
    parse_hl7_message,
    parse_hl7_message_text,
)
from labs.gateways.hl7.reports import ObservationStatus
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.gateways.hl7.values import parse_hl7_timestamp
from tests.factories.hl7 import make_oru, make_test, obx


def read(*tests, **told):
    return parse_hl7_result_reports(parse_hl7_message(make_oru(*tests, **told)))


def one_observation(value, **fields):
    ((test,),) = [report.tests for report in read(make_test(obx(value, **fields)))]
    (observation,) = test.observations
    return observation


@pytest.mark.parametrize(
    ("kind", "value", "text", "declared"),
    [
        ("NM", "5.20", "5.20", ""),
        ("NM", ">100", ">100", ""),
        ("SN", "<^5", "<5", ""),
        ("SN", ">=^0.5", ">=0.5", ""),
        ("SN", "=^7", "7", ""),
        ("SN", "^1^-^10", "1-10", ""),
        ("SN", "^1^:^128", "1:128", ""),
        ("SN", "^2^+", "2+", ""),
        ("CE", "10828004^Positive^SCT", "Positive", "coded_value"),
        ("CWE", "^^^^^^^^Not seen", "Not seen", "coded_value"),
        ("CE", "A^Alpha^L~B^Beta^L", "Alpha; Beta", "coded_value"),
        ("ST", "Yellow", "Yellow", ""),
        ("TX", "First line~Second line", "First line\nSecond line", ""),
        ("FT", "One\\.br\\Two", "One\nTwo", ""),
        ("NA", "1^2^3", "1 2 3", "comment"),
        ("DT", "20260102", "2026-01-02", "comment"),
        ("TS", "202601021330", "2026-01-02 13:30+00:00", "comment"),
        ("DT", "soon", "soon", "comment"),
        ("XYZ", "a^^b~c", "a b\nc", "comment"),
    ],
)
def test_a_value_is_read_by_its_type(kind, value, text, declared):
    observation = one_observation(value, type=kind)

    assert (observation.text, observation.type) == (text, declared)


def test_an_observation_keeps_what_its_lab_says_of_it():
    observation = one_observation(
        "240",
        id="GLU^Glucose^L^2345-7^Glucose SerPl^LN",
        sub="a",
        flag="H~A",
        unit="mg/dL^x",
    )

    assert (observation.code, observation.name) == ("GLU", "Glucose")
    assert (observation.loinc, observation.sub_id) == ("2345-7", "a")
    assert (observation.unit, observation.reference_range) == ("mg/dL", "65-99")
    assert observation.flags == ("H", "A")
    assert observation.laboratory == "Acme Main"
    assert observation.observed_at.at == datetime(2026, 2, 28, 13, 30, tzinfo=UTC)
    assert observation.observed_at.offset == -5 * 3600


@pytest.mark.parametrize(
    ("status", "standing"),
    [
        ("F", ObservationStatus.FINAL),
        ("C", ObservationStatus.CORRECTED),
        ("P", ObservationStatus.PRELIMINARY),
        ("X", ObservationStatus.IMPOSSIBLE),
        ("D", ObservationStatus.WITHDRAWN),
        ("W", ObservationStatus.WITHDRAWN),
        ("N", ObservationStatus.AWAITED),
        ("A", ObservationStatus.CORRECTED),
        ("V", ObservationStatus.FINAL),
        ("f", ObservationStatus.FINAL),
    ],
)
def test_the_status_of_an_observation_says_how_sure_it_is(status, standing):
    assert one_observation("1", status=status).standing is standing


def test_a_result_without_value_can_be_pending():
    assert one_observation("", status="I").standing is ObservationStatus.AWAITED


def test_the_patient_is_read_with_a_birth_date_of_a_whole_day_alone():
    (whole,) = read(make_test(obx()))
    (year,) = read(make_test(obx()), patient="PID|1||77||Example^Ada||1990|")

    assert (whole.patient.family, whole.patient.given) == ("Example", "Ada")
    assert (whole.patient.birth_date, whole.patient.sex) == (date(1990, 5, 17), "F")
    assert (year.patient.birth_date, year.patient.sex) == (None, "")


def test_notes_stand_with_what_they_follow_and_unknown_segments_are_passed_over():
    (report,) = read(
        make_test(
            "NTE|1||Of the test",
            obx("1"),
            "NTE|1||Of the first~and more",
            "ZXX|anything",
            obx("2", id="2951-2^Sodium^LN"),
            "NTE|1||Of the second",
            "SPM|1|S-1&ours^S-2&theirs||SER|||||||||||||20260228083000|20260228180000",
            "NTE|1||Of nothing we keep",
            obx("9", id="SPM^Volume^L"),
        )
    )

    (test,) = report.tests
    assert test.notes == ["Of the test"]
    assert [one.notes for one in test.observations] == [
        ["Of the first", "and more"],
        ["Of the second"],
    ]
    (specimen,) = test.specimens
    assert specimen.sample_id == "S-1"
    # MSH-7 tells how far the lab's clock stands from UTC.
    assert specimen.collected_at.at == datetime(2026, 2, 28, 13, 30, tzinfo=UTC)


def test_results_behind_a_specimen_that_comes_first_are_results():
    (report,) = read(make_test("SPM|1|S-1", obx("1")))

    assert [one.text for one in report.tests[0].observations] == ["1"]


def test_tests_of_one_order_make_one_report_and_an_added_one_joins_its_parent():
    added = (
        "OBR|3||F-9|999^Reflex^L" + "|" * 21 + "F||||P-1&x^F-1",
        obx("7", id="9^Reflex^L"),
    )
    reports = read(
        make_test(obx("1"), code="A", placer="P-1", filler="F-1"),
        make_test(obx("2"), code="B", placer="P-2", filler="F-2"),
        make_test(obx("3"), code="C", placer="P-1", filler="F-3"),
        added,
        ("OBR|4|||D^No number^L", obx("4")),
    )

    codes = [[test.code for test in report.tests] for report in reports]
    assert codes == [["A", "C", "999", "D"], ["B"]]
    assert reports[0].placers == {"P-1"}
    assert reports[0].fillers == {"F-1", "F-3", "F-9"}


def test_each_patient_of_a_message_has_reports_of_their_own():
    second = (
        "PID|2||78||Other^Ben||19800101|M",
        *make_test(obx("2"), placer="P-1"),
    )

    reports = read(make_test(obx("1"), placer="P-1"), second)

    assert [report.patient.given for report in reports] == ["Ada", "Ben"]


def test_a_report_is_a_message_of_its_own_with_nothing_of_another():
    both = read(
        ("NTE|1||Of the patient", *make_test(obx("1"), "ZXX|x", placer="P-1")),
        make_test(obx("2"), placer="P-2", filler="F-2"),
    )

    (again,) = parse_hl7_result_reports(parse_hl7_message_text(both[0].text))

    assert again.text == both[0].text
    assert again.tests == both[0].tests
    assert "ZXX|x" in both[0].text
    assert "P-2" not in both[0].text


def test_a_report_is_read_again_whatever_its_character_set_was():
    raw = make_oru(make_test(obx("µ \\XB5\\", type="ST")), character_set="8859/1")
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(raw.decode().encode("latin-1"))
    )

    (again,) = parse_hl7_result_reports(parse_hl7_message_text(report.text))

    assert report.tests[0].observations[0].text == "µ µ"
    assert again.tests == report.tests


@pytest.mark.parametrize(
    ("message", "code", "place"),
    [
        (make_oru(), "101", "OBR"),
        (make_oru((obx(),)), "100", "OBX"),
        (make_oru(make_test(obx()), control_id=""), "101", "MSH-10"),
        (make_oru(make_test(), ("PID|2||78", obx())), "100", "OBX"),
        (make_oru(make_test(), ("PID|2||78",)), "101", "OBR"),
        (make_oru(make_test()).replace(b"ORU^R01", b"ADT^A01"), "200", "MSH-9"),
        (make_oru(make_test()).replace(b"ORU^R01", b"ORU^R40"), "201", "MSH-9"),
        (make_oru(make_test()).replace(b"|2.5.1|", b"|3.0|"), "203", "MSH-12"),
    ],
    ids=range(8),
)
def test_what_cannot_be_understood_is_refused_at_its_place(message, code, place):
    with pytest.raises(MalformedMessage) as caught:
        parse_hl7_result_reports(parse_hl7_message(message))

    assert (caught.value.code, caught.value.place) == (code, place)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026", "2026-01-01T05:00:00+00:00"),
        ("20260704", "2026-07-04T04:00:00+00:00"),
        ("20260704123045.1234", "2026-07-04T16:30:45+00:00"),
        ("202607041230+0200", "2026-07-04T10:30:00+00:00"),
    ],
)
def test_a_moment_without_an_offset_is_in_the_zone_of_its_lab(text, instant):
    moment = parse_hl7_timestamp(text, ZoneInfo("America/New_York"))

    assert moment.at == datetime.fromisoformat(instant)


@pytest.mark.parametrize(
    "text", ["", "soon", "20261332", "00010101", "20260101+9900", "9" * 50]
)
def test_what_is_no_moment_is_none(text):
    assert parse_hl7_timestamp(text, UTC) is None
