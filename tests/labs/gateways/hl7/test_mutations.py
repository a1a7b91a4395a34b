"""Messages as they break on their way: nothing crashes, nothing is lost in silence."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.gateways.hl7.messages import (
    MalformedMessage,
    parse_hl7_message,
    parse_hl7_message_text,
    split_hl7_messages,
)
from labs.gateways.hl7.reports import ObservationStatus
from labs.gateways.hl7.results import parse_hl7_result_reports
from tests.factories.hl7 import make_oru, make_test, obx

SODIUM = {"id": "2951-2^Sodium^LN", "unit": "mmol/L"}
WHOLE = make_oru(
    (
        "NTE|1||Of the patient",
        *make_test(
            obx("91"),
            "NTE|1||Of glucose",
            obx("<^5", type="SN", **SODIUM),
            obx("First", type="TX", id="T^Text^L", unit="", range=""),
            obx("Second", type="TX", id="T^Text^L", unit="", range=""),
            "SPM|1|S-1|||SER",
            placer="P-1",
        ),
    ),
    make_test(
        obx("POS^Positive^L", type="CWE", id="X^Virus^L"), code="B", filler="F-2"
    ),
    (
        "PID|2||78||Other^Ben||19800101|M",
        *make_test(obx("3.1", id="K^Potassium^L"), code="C", filler="F-3"),
    ),
)
LINES = WHOLE.rstrip(b"\r").split(b"\r")
_TO_CHANGE = st.integers(1, len(LINES) - 1)
_BYTES = st.binary(min_size=1, max_size=4)
_FIELD = st.sampled_from(
    [b"", b"^", b"~", b"&", b"\\", b'""', b"Q", b"F", b"1^2", b"\xff", b"\x00", b"\n"]
)


def drop(lines, at, _other, _junk):
    return lines[:at] + lines[at + 1 :]


def swap(lines, at, other, _junk):
    lines = list(lines)
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def repeat(lines, at, other, _junk):
    return [*lines[:other], lines[at], *lines[other:]]


def truncate(lines, at, other, _junk):
    return [*lines[:at], lines[at][: other * 3], *lines[at + 1 :]]


def cut_off(lines, at, other, _junk):
    return [*lines[:at], lines[at][: other * 5]]


def change_field(lines, at, other, junk):
    fields = lines[at].split(b"|")
    fields[other % len(fields)] = junk
    return [*lines[:at], b"|".join(fields), *lines[at + 1 :]]


def insert_bytes(lines, at, other, junk):
    line = lines[at]
    place = other * 7 % (len(line) + 1)
    return [*lines[:at], line[:place] + junk + line[place:], *lines[at + 1 :]]


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [drop, swap, repeat, truncate, cut_off, change_field, insert_bytes]
        ),
        _TO_CHANGE,
        _TO_CHANGE,
        st.one_of(_FIELD, _BYTES),
    ),
    min_size=1,
    max_size=4,
)


def mutate(mutations):
    lines = list(LINES)
    for change, at, other, junk in mutations:
        if len(lines) > 1:
            bound = len(lines) - 1
            lines = change(lines, 1 + at % bound, 1 + other % bound, junk)
    return b"\r".join(lines) + b"\r"


def read(content):
    """The reports of each message of a file; the refused ones with their code."""
    told = []
    for raw in split_hl7_messages(content):
        message = parse_hl7_message(raw)
        told.append((message, parse_hl7_result_reports(message)))
    return told


@given(mutations=MUTATIONS)
@settings(max_examples=400, deadline=None)
def test_a_broken_message_is_refused_by_a_code_or_kept_to_its_last_line(mutations):
    try:
        told = read(mutate(mutations))
    except MalformedMessage:
        return
    for message, reports in told:
        stored = Counter(
            line for report in reports for line in report.text.split("\r") if line
        )
        for segment in message.segments:
            for line in filter(None, segment.line.split("\r")):
                assert stored[line] >= 1, line


@given(mutations=MUTATIONS)
@settings(max_examples=200, deadline=None)
def test_a_stored_report_is_read_again_as_it_was_read_first(mutations):
    try:
        told = read(mutate(mutations))
    except MalformedMessage:
        return
    for _, reports in told:
        for report in reports:
            (again,) = parse_hl7_result_reports(parse_hl7_message_text(report.text))
            assert again.text == report.text
            assert values(again) == values(report)
            assert places(again) == places(report)
            if report.doubts:
                text = report.held_text
                (held,) = parse_hl7_result_reports(parse_hl7_message_text(text))
                assert places(held) == places(report)
                assert values(held) == []


@given(mutations=MUTATIONS)
@settings(max_examples=400, deadline=None)
def test_each_observation_is_taken_held_or_known_to_be_none(mutations):
    try:
        told = read(mutate(mutations))
    except MalformedMessage:
        return
    for message, reports in told:
        tests = [test for report in reports for test in report.tests]
        numbers = {one.number for test in tests for one in test.observations}
        numbers |= {one.number for test in tests for one in test.held}
        for segment in message.segments:
            if segment.name == "OBX" and segment.number not in numbers:
                assert is_no_result(segment, tests)


def is_no_result(segment, tests):
    """Whether an OBX is a line of a text, replaced in its test, or of a specimen."""
    kept = [line for test in tests for one in test.observations for line in one.lines]
    if segment.line in kept or segment.text(2) in {"ED", "RP"}:
        return True
    given = [one for test in tests for one in test.observations]
    same = [one for one in given if segment.text(3) in {one.code, one.loinc}]
    ranks = {ObservationStatus.CORRECTED: 0, ObservationStatus.FINAL: 1}
    if any(ranks.get(one.standing, 2) < 2 for one in same):
        return True
    return not (segment.text(7) or segment.text(8))


def values(report):
    return [
        (one.identity, one.content, tuple(one.notes))
        for test in report.tests
        for one in test.observations
    ]


def places(report):
    return {(doubt.code, doubt.place) for doubt in report.doubts}


@pytest.mark.parametrize("length", range(0, len(WHOLE), 17))
def test_a_message_that_is_cut_off_anywhere_takes_no_value_that_was_cut(length):
    whole = {
        (one.identity, one.text)
        for _, reports in read(WHOLE)
        for report in reports
        for test in report.tests
        for one in test.observations
    }
    try:
        told = read(WHOLE[:length])
    except MalformedMessage:
        return
    taken = {
        (one.identity, one.text)
        for _, reports in told
        for report in reports
        for test in report.tests
        for one in test.observations
    }
    # Between two lines of a text nobody can see that more was to come.
    assert taken - {(("T", ""), "First")} <= whole
