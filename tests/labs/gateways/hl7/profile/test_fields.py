from __future__ import annotations

import pytest

from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.profile.fields import ORDER_PROFILE, RESULTS_PROFILE
from labs.gateways.hl7.profile.samples import (
    write_sample_order_messages,
    write_sample_results_messages,
)
from tests.labs.gateways.hl7.conformance import require_valid_hl7

PARTS = [
    (ORDER_PROFILE, write_sample_order_messages),
    (RESULTS_PROFILE, write_sample_results_messages),
]
# MSH-1 and MSH-2 are the delimiters.
DELIMITERS = {("MSH", 1), ("MSH", 2)}


def list_segments(write):
    return [
        segment
        for messages in write().values()
        for raw in messages
        for segment in parse_hl7_message(raw).segments
    ]


def list_fields(segment):
    return {
        (segment.name, number)
        for number in range(1, len(segment.held))
        if segment.raw(number)
    } - DELIMITERS


@pytest.mark.parametrize(("profile", "write"), PARTS)
def test_what_is_sent_is_in_the_profile_and_what_is_in_it_is_sent(profile, write):
    sent = {place for segment in list_segments(write) for place in list_fields(segment)}

    assert sent == {(one.segment, one.number) for one in profile}


@pytest.mark.parametrize(("profile", "write"), PARTS)
def test_what_is_always_sent_is_in_each_segment(profile, write):
    always = {(one.segment, one.number) for one in profile if one.usage == "R"}

    for segment in list_segments(write):
        wanted = {place for place in always if place[0] == segment.name}
        assert wanted <= list_fields(segment)


@pytest.mark.parametrize("write", [write for _, write in PARTS])
def test_samples_are_valid(write, tmp_path):
    for messages in write().values():
        for raw in messages:
            require_valid_hl7(raw, tmp_path)
