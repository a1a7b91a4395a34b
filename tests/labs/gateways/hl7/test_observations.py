from __future__ import annotations

import pytest

from labs.gateways.hl7.messages import parse_hl7_message, parse_hl7_message_text
from labs.gateways.hl7.reports import ObservationStatus
from labs.gateways.hl7.results import parse_hl7_result_reports
from tests.factories.hl7 import make_oru, make_test, obx

SODIUM = {"id": "2951-2^Sodium^LN"}


def read(*lines, status="F"):
    """The one test of a message, its observations as they are given."""
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru(make_test(*lines, status=status)))
    )
    (test,) = report.tests
    return test


def taken(test):
    return [(one.text, one.standing) for one in test.observations]


def held(test):
    return [
        (one.text, one.doubt.code, one.doubt.place, one.doubt.number)
        for one in test.held
    ]


@pytest.mark.parametrize(
    ("status", "standing"),
    [
        ("F", ObservationStatus.FINAL),
        ("C", ObservationStatus.CORRECTED),
        ("P", ObservationStatus.PRELIMINARY),
        ("R", ObservationStatus.PRELIMINARY),
    ],
)
def test_an_observation_without_status_has_that_of_its_test(status, standing):
    assert taken(read(obx("5", status=""), status=status)) == [("5", standing)]


@pytest.mark.parametrize("status", ["", "A", "I", "O", "S", "X", "Y", "Z", "M"])
def test_it_is_held_where_that_of_its_test_says_nothing_of_a_value(status):
    test = read(obx("5", status=""), status=status)

    assert (taken(test), held(test)) == ([], [("5", "101", "OBX-11", 1)])


@pytest.mark.parametrize(
    ("bad", "text", "code", "place"),
    [
        (obx("5", id=""), "5", "101", "OBX-3"),
        (obx("5", id="^^LN"), "5", "101", "OBX-3"),
        ("OBX|2", "", "101", "OBX-3"),
        (obx("5", status="Q", **SODIUM), "5", "103", "OBX-11"),
        (obx("5", status="Final", **SODIUM), "5", "103", "OBX-11"),
        (obx("5", status="I", **SODIUM), "5", "103", "OBX-11"),
        (obx("<^5", type="", **SODIUM), "<^5", "101", "OBX-2"),
        (obx("5^6", type="NM", **SODIUM), "5^6", "102", "OBX-5"),
        (obx("5.2 x10^3", type="NM", **SODIUM), "5.2 x10^3", "102", "OBX-5"),
        (obx("5^10", type="SN", **SODIUM), "510", "102", "OBX-5"),
        (obx("^5^x^10", type="SN", **SODIUM), "5x10", "102", "OBX-5"),
        (obx("5", unit="136-145", **SODIUM), "5", "102", "OBX-6"),
        (obx("5", unit="7", **SODIUM), "5", "102", "OBX-6"),
        (obx("5", unit="mmol/L~mg/dL", **SODIUM), "5", "102", "OBX-6"),
        (obx("5 \x01", type="ST", **SODIUM), "5 \ufffd", "102", "OBX"),
        (obx("5\rmore", type="ST", **SODIUM), "5\nmore", "100", "OBX"),
    ],
    ids=range(16),
)
def test_a_value_in_doubt_is_held_and_the_others_are_taken(bad, text, code, place):
    test = read(obx("91"), bad, obx("7", id="K^Potassium^L"))

    assert [one.text for one in test.observations] == ["91", "7"]
    assert held(test) == [(text, code, place, 2)]
    assert test.held[0].standing is ObservationStatus.UNCLEAR


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"type": ""}, "5"),
        ({"id": "^Glucose"}, "5"),
        ({"unit": "1"}, "5"),
        ({"unit": "10*3/uL^thousands^UCUM"}, "5"),
        ({"unit": "^^^mmol/L"}, "5"),
        ({"type": "SN", "value": "5"}, "5"),
        ({"type": "SN", "value": "<5"}, "<5"),
        ({"type": "SN", "value": ">^5~<^9"}, ">5\n<9"),
        ({"type": "ST", "value": "5.2 x10^3"}, "5.2 x10^3"),
        ({"type": "ST", "value": "A&B"}, "A&B"),
        ({"type": "DT", "value": "20260102~20260103"}, "2026-01-02\n2026-01-03"),
        ({"type": "ST", "value": "see note"}, "see note"),
        ({"type": "NM", "value": "37.0~37.1"}, "37.0\n37.1"),
    ],
    ids=range(13),
)
def test_what_is_odd_but_certain_is_taken_whole(fields, text):
    (one,) = read(obx(**{"value": "5", **fields})).observations

    assert (one.text, one.name) == (text, "Glucose")


def test_a_sub_id_of_several_parts_tells_results_apart():
    test = read(obx("a", sub="^3^1", type="ST"), obx("b", sub="^3^2", type="ST"))

    assert [one.sub_id for one in test.observations] == ["3.1", "3.2"]


def test_the_lines_of_a_text_are_one_result():
    lines = ("Gross: ~ normal", "Micro: normal", "End")
    test = read(*(obx(text, type="TX", unit="", range="") for text in lines))

    (one,) = test.observations
    assert one.text == "Gross: \n normal\nMicro: normal\nEnd".replace(" \n ", "\n")
    assert test.held == []


@pytest.mark.parametrize(
    "bad",
    [
        obx("not malignant\x01", type="TX"),
        obx("not malignant", type="TX", status="Q"),
        obx("not malignant", type="TX", id=""),
    ],
    ids=range(3),
)
def test_a_text_is_held_whole_where_one_of_its_lines_is_in_doubt(bad):
    test = read(obx("The sample is", type="TX"), bad)

    assert test.observations == []
    assert len(test.held) == 2
    assert {one.doubt.number for one in test.held} == {2}


def test_a_correction_replaces_what_it_corrects_in_the_same_test():
    test = read(obx("91"), obx("19", status="P"), obx("95", status="C"))

    assert taken(test) == [("95", ObservationStatus.CORRECTED)]
    assert test.held == []


def test_a_result_that_is_repeated_as_it_was_is_taken():
    assert [one.text for one in read(obx("91"), obx("91")).observations] == [
        "91",
        "91",
    ]


def test_two_values_of_one_result_are_held():
    test = read(obx("91"), obx("19"), obx("7", **SODIUM))

    assert [one.text for one in test.observations] == ["7"]
    assert held(test) == [("91", "103", "OBX-5", 1), ("19", "103", "OBX-5", 2)]


def test_two_values_of_one_result_in_two_tests_are_held():
    """A second organism, or a second draw: the order's results have one place."""
    reports = parse_hl7_result_reports(
        parse_hl7_message(
            make_oru(
                make_test(obx("S", type="ST", id="AMP^Ampicillin^L"), code="CULT1"),
                make_test(obx("R", type="ST", id="AMP^Ampicillin^L"), code="CULT2"),
            )
        )
    )

    assert [test.observations for test in reports[0].tests] == [[], []]
    assert [held(test) for test in reports[0].tests] == [
        [("S", "103", "OBX-5", 1)],
        [("R", "103", "OBX-5", 2)],
    ]


@pytest.mark.parametrize(
    "opening",
    ["OBR|1||F-1|", "OBR|1||F-1|\x01^Panel^L", "OBR|1||F-1|A^Pan\rel^L"],
    ids=range(3),
)
def test_an_obr_without_test_holds_its_results(opening):
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru((opening, obx("5"), "NTE|1||note")))
    )

    (test,) = report.tests
    assert test.observations == []
    assert [one.doubt for one in test.held] == [test.doubt]
    assert test.doubt.place in {"OBR", "OBR-4"}
    assert test.held[0].notes == ["note"]


def test_a_test_known_by_name_only_is_taken():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru(("OBR|1||F-1|^Lipid panel", obx("5", status="F"))))
    )

    (test,) = report.tests
    assert (test.code, test.name) == ("", "Lipid panel")
    assert (report.codes, report.list_done_codes()) == (frozenset(), frozenset())
    assert taken(test) == [("5", ObservationStatus.FINAL)]


def test_an_observation_before_its_test_is_held_with_it():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(
            make_oru((obx("5", **SODIUM), "NTE|1||early", *make_test(obx("91"))))
        )
    )

    (test,) = report.tests
    assert taken(test) == [("91", ObservationStatus.FINAL)]
    assert held(test) == [("5", "100", "OBX", 1)]
    assert test.held[0].notes == ["early"]


def test_what_follows_an_order_without_test_stays_with_the_last_one():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(
            make_oru((*make_test(obx("91")), "ORC|RE||F-2", obx("5", **SODIUM)))
        )
    )

    assert [one.text for one in report.tests[0].held] == ["5"]


def test_a_result_behind_its_specimen_is_held_unless_it_says_that_it_is_one():
    said = obx("7", id="K^Potassium^L") + "||||||RSLT"
    test = read(obx("91"), "SPM|1|S-1", obx("5", **SODIUM), said)

    assert [one.text for one in test.observations] == ["91", "7"]
    assert held(test) == [("5", "100", "OBX", 2)]


def test_a_message_before_any_patient_has_one_without_name():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru(make_test(obx("91")), patient="ZZZ|1"))
    )

    assert (report.patient.family, report.patient.birth_date) == ("", None)
    assert "ZZZ|1" in report.text


def test_a_patient_that_is_written_twice_is_one():
    pid = "PID|1||77||Example^Ada||19900517|F"
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru((pid, *make_test(obx("91")))))
    )

    assert report.patient.given == "Ada"
    assert report.text.count(pid) == 2


def test_a_note_that_cannot_be_read_holds_what_it_says_something_of():
    test = read(obx("91"), "NTE|1||do n\x01t use", "NTE|2||other", obx("5", **SODIUM))

    assert [one.text for one in test.observations] == ["5"]
    assert held(test) == [("91", "102", "NTE", 1)]
    assert test.held[0].notes == ["do n\ufffdt use", "other"]


def test_notes_are_read_at_each_level():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(
            make_oru(
                (
                    "NTE|1||of the patient",
                    "ORC|RE||F-1",
                    "NTE|1||of the order",
                    "OBR|1||F-1|A^A^L",
                    "NTE|1||of the test",
                    obx("91"),
                    "NTE|1||of the result",
                    "SPM|1|S-1",
                    "NTE|1||of the sample",
                )
            )
        )
    )

    (test,) = report.tests
    assert report.notes == ["of the patient"]
    assert test.notes == ["of the order", "of the test"]
    assert test.observations[0].notes == ["of the result"]
    assert test.specimens[0].notes == ["of the sample"]


@pytest.mark.parametrize("end", ["", "|mg/dL", "|mg/dL|65-99|N||"], ids=range(3))
def test_a_segment_that_ends_before_its_status_is_held(end):
    test = read(obx("7", **SODIUM), f"OBX|2|NM|K^Potassium^L||5{end}")

    assert [one.text for one in test.observations] == ["7"]
    assert held(test) == [("5", "101", "OBX-11", 2)]


def test_what_is_held_is_a_message_of_its_own_with_the_same_doubts():
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(
            make_oru(
                (obx("5", **SODIUM), *make_test(obx("91"), filler="F-1")),
                make_test(
                    obx("7", status="Q", id="K^Potassium^L"), "NTE|1||n", code="B"
                ),
            )
        )
    )

    (again,) = parse_hl7_result_reports(parse_hl7_message_text(report.held_text))

    assert [doubt.place for doubt in again.doubts] == ["OBX", "OBX-11"]
    assert [one.text for test in again.tests for one in test.held] == ["5", "7"]
    assert [test.observations for test in again.tests] == [[], []]
    assert "|91|" not in report.held_text
    assert again.held_text == report.held_text
