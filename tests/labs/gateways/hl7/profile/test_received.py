from __future__ import annotations

import pytest

from labs.gateways.hl7.messages import Segment, parse_hl7_message
from labs.gateways.hl7.mllp.client import read_answer
from labs.gateways.hl7.profile.received import ANSWERS_PROFILE, RECEIVED_PROFILE
from labs.gateways.hl7.results import parse_hl7_result_reports
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import take
from tests.factories.labs import make_lab

READS = ("text", "whole", "raw", "components", "repeats", "has_parts")
# Read from the bytes, before there are segments: processing and character set.
OF_HEADER = {("MSH", 11), ("MSH", 18)}


@pytest.fixture
def read(monkeypatch):
    """The fields that are read, by segment and number."""
    found = set()

    def record(name, original):
        def recording(self, field, *args, **options):
            found.add((self.name, field))
            return original(self, field, *args, **options)

        monkeypatch.setattr(Segment, name, recording)

    for name in READS:
        record(name, getattr(Segment, name))
    return found


def of(profile):
    return {(one.segment, one.number) for one in profile}


def test_what_the_reader_reads_is_in_the_profile_and_the_other_way(read):
    message = parse_hl7_message(
        make_oru(
            make_test(
                obx("91"),
                "NTE|1||Note",
                obx("^5", type="SN"),
                obx("1", status="").replace("Acme Main", ""),
                "SPM|1|S-1",
                obx("9"),
                placer="P-1",
            )
        )
    )
    parse_hl7_result_reports(message)

    assert read == of(RECEIVED_PROFILE) - OF_HEADER


@pytest.mark.django_db
def test_what_is_read_of_an_answer_is_in_its_profile_and_the_other_way(
    read, alice_tenant
):
    content = make_oru().replace(b"ORU^R01^ORU_R01", b"ORL^O22^ORL_O22")
    content += b"MSA|AA|NW1\rERR|||207|E\rORC|OK\r"

    take(alice_tenant, content, lab=make_lab())
    read_answer(content.replace(b"|||207", b"|").replace(b"NW1", b"NW1||||"))

    # The header is read from the bytes.
    assert read == of(ANSWERS_PROFILE) - {("MSH", 9)}
