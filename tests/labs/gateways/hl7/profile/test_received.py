from __future__ import annotations

from labs.gateways.hl7.messages import Segment, parse_hl7_message
from labs.gateways.hl7.profile.received import RECEIVED_PROFILE
from labs.gateways.hl7.results import parse_hl7_result_reports
from tests.factories.hl7 import make_oru, make_test, obx

READS = ("text", "whole", "raw", "components", "repeats", "has_parts")
# Read from the bytes, before there are segments: processing and character set.
OF_HEADER = {("MSH", 11), ("MSH", 18)}


def test_what_the_reader_reads_is_in_the_profile_and_the_other_way(monkeypatch):
    read = set()

    def record(name, original):
        def recording(self, field, *args, **options):
            read.add((self.name, field))
            return original(self, field, *args, **options)

        monkeypatch.setattr(Segment, name, recording)

    for name in READS:
        record(name, getattr(Segment, name))
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

    profile = {(one.segment, one.number) for one in RECEIVED_PROFILE}
    assert read == profile - OF_HEADER
