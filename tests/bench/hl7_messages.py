"""What becomes of HL7 messages as others wrote them: taken, held, refused, lost.

Run `python -m tests.bench.hl7_messages FOLDER`, with a folder of sources, each a folder
of files that hold one message. Each message is processed as from a lab: where it names
a patient and a number, an order of both waits for it. Prints a table by source and
outcome and what differs from hl7_messages.csv; fails at a crash, a lost line or result,
or fewer than 95% of well-formed ORU^R01 that are taken or held. `--write` writes the
table, which has no content of the messages: the digest of each, its source, its type
and its outcome.

A message is well-formed if it has delimiters, ORU^R01, a control ID, a version and an
OBR. Taken is one of which every result is certain; held one of which a person reads
lines in doubt; the rest is refused with a code.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import logging
import sys
from collections import Counter
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from tests.bench.stage import database

TABLE = Path(__file__).with_suffix(".csv")
MUST = 0.95
TAKEN, HELD, REFUSED, CRASHED, LOST = "taken", "held", "refused", "crashed", "lost"
_FAULT_OF_OURS = "207"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one message; `code` says why it was refused, and where."""

    digest: str
    source: str
    type: str
    is_well_formed: str
    outcome: str
    code: str = ""


def read_outcomes(folder: Path, tenant: Any) -> list[Outcome]:
    """Return the outcome of each message."""
    return [
        process(path.read_bytes(), path.parent.name, tenant)
        for path in sorted(folder.rglob("*.hl7"))
    ]


def is_well_formed(content: bytes) -> bool:
    lines = content.replace(b"\n", b"\r").split(b"\r")
    fields = lines[0].split(b"|")
    return (
        lines[0].startswith((b"MSH|^~\\&|", b"MSH|^~\\&#|"))
        and len(fields) > 11
        and fields[8].split(b"^")[:2] == [b"ORU", b"R01"]
        and bool(fields[9].strip())
        and fields[11].startswith(b"2.")
        and any(line.startswith(b"OBR|") for line in lines)
    )


def process(content: bytes, source: str, tenant: Any) -> Outcome:
    """Process one message with an order that waits for its first report."""
    from django.db import transaction

    from labs.gateways.hl7.acknowledgements import parse_hl7_message_header
    from labs.gateways.hl7.drop import DroppedFile
    from labs.operations.inbound.files import build_stored_message_acknowledgement
    from labs.operations.inbound.processing import process_hl7_file_content
    from tests.factories.accounts import ACTOR

    digest = hashlib.sha256(content).hexdigest()
    kind = parse_hl7_message_header(content).kind.partition("^")[0]
    try:
        with transaction.atomic():
            lab = make_waiting_order(content, tenant)
            messages = process_hl7_file_content(
                tenant=tenant,
                actor=ACTOR,
                lab=lab,
                account=None,
                dropped=DroppedFile("message.hl7", content, digest),
            )
            answers = [build_stored_message_acknowledgement(one) for one in messages]
            outcome, code = judge(content, messages, answers)
            transaction.set_rollback(True)
    except Exception as fault:  # noqa: BLE001 - a crash is what is counted
        outcome, code = CRASHED, type(fault).__name__
    whole = "whole" if is_well_formed(content) else ""
    return Outcome(digest[:16], source, kind, whole, outcome, code)


def make_waiting_order(content: bytes, tenant: Any) -> Any:
    """Make an order of the first report's number and patient; return its lab."""
    from labs.gateways.hl7.messages import (
        MalformedMessage,
        parse_hl7_message,
        split_hl7_messages,
    )
    from labs.gateways.hl7.results import parse_hl7_result_reports
    from tests.factories.inbound import make_order_sent_to_lab
    from tests.factories.labs import make_lab

    try:
        first = split_hl7_messages(content)[0]
        report = parse_hl7_result_reports(parse_hl7_message(first))[0]
    except MalformedMessage:
        return make_lab()
    numbers = sorted(report.placers or report.fillers or report.samples)
    person = report.patient
    if not (numbers and person.family and person.given and person.birth_date):
        return make_lab()
    order = make_order_sent_to_lab(tenant=tenant)
    order.sample_id = numbers[0][:100]
    order.patient_details = {
        **order.patient_details,
        "first_name": person.given,
        "last_name": person.family,
        "gender": {"F": "female", "M": "male"}.get(person.sex, "other"),
    }
    order.patient_dob = person.birth_date
    order.save()
    return order.lab


def judge(content: bytes, messages: list[Any], answers: list[bytes]) -> tuple[str, str]:
    """Return the outcome of a file's messages, and its code."""
    from labs.states.inbound import MessageStatus

    (message,) = messages
    if message.status == MessageStatus.MALFORMED:
        if message.error_code == _FAULT_OF_OURS:
            return CRASHED, message.error_code
        if bytes(message.content).split() != content.split():  # but for blank lines
            return LOST, "content"
        return REFUSED, f"{message.error_code} {message.error_place}".strip()
    if not message.answer:
        return TAKEN, "answer"
    rows = list(message.reports.select_related("order"))
    if lost := find_loss(content, rows):
        return LOST, lost
    if any(row.doubts for row in rows):
        told = any(b"\rERR|" in answer for answer in answers)
        return (HELD, "") if told else (LOST, "ERR")
    return TAKEN, "on an order" if any(row.order_id for row in rows) else ""


def find_loss(content: bytes, rows: list[Any]) -> str:
    """Return what of a message is on no order and in nobody's queue."""
    from labs.gateways.hl7.messages import parse_hl7_message, split_hl7_messages
    from labs.gateways.hl7.reports import ObservationStatus
    from labs.operations.inbound.review import parse_stored_lab_report
    from labs.queries.results.results import find_current_result_version

    stored = {line for row in rows for line in row.text.split("\r")}
    (raw,) = split_hl7_messages(content)
    for segment in parse_hl7_message(raw).segments:
        if not set(segment.line.split("\r")) <= stored:
            return segment.name
    for row in rows:
        report = parse_stored_lab_report(row)
        if not row.order_id:
            continue
        version = find_current_result_version(order=row.order)
        kept = (
            [*version.results.all(), *version.missing_results.all()] if version else []
        )
        names = {one.provider_id or one.name for one in kept}
        for test in report.tests:
            for one in test.observations:
                is_told = one.standing is not ObservationStatus.AWAITED
                if is_told and one.identity[0][:50] not in names:
                    return "result"
    return ""


def print_table(found: list[Outcome]) -> None:
    outcomes = (TAKEN, HELD, REFUSED, CRASHED, LOST)
    print(f"{'source':24}{'type':6}" + "".join(f"{name:>9}" for name in outcomes))
    counts = Counter((one.source, one.type, one.outcome) for one in found)
    for source, kind in sorted({(one.source, one.type) for one in found}):
        figures = "".join(f"{counts[source, kind, name]:>9}" for name in outcomes)
        print(f"{source:24}{kind:6}{figures}")
    total = Counter(one.outcome for one in found)
    print(f"{'':30}" + "".join(f"{total[name]:>9}" for name in outcomes))
    reasons = Counter(
        (one.type, one.code) for one in found if one.outcome in {REFUSED, CRASHED, LOST}
    )
    for (kind, code), number in sorted(reasons.items()):
        print(f"{number:5} {kind} {code}")


def compare_with_table(found: list[Outcome]) -> None:
    if not TABLE.exists():
        return
    with TABLE.open(newline="") as opened:
        before = {row[0]: tuple(row[4:]) for row in csv.reader(opened)}
    for one in found:
        known = before.get(one.digest)
        if known not in {None, (one.outcome, one.code)}:
            print(f"{one.source}/{one.digest}: {known} is now {one.outcome} {one.code}")


def main() -> int:
    """Print the table; 1 for a crash, a loss or too many refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with database():
        from tests.factories.accounts import make_team, make_tenant

        tenant = make_tenant(team=make_team("Bench Health"))
        found = read_outcomes(options.folder, tenant)
    print_table(found)
    compare_with_table(found)
    if options.write:
        with TABLE.open("w", newline="") as opened:
            csv.writer(opened, lineterminator="\n").writerows(map(astuple, found))
    bad = sum(one.outcome in {CRASHED, LOST} for one in found)
    whole = [one.outcome in {TAKEN, HELD} for one in found if one.is_well_formed]
    share = sum(whole) / len(whole) if whole else 1.0
    print(
        f"{len(found)} messages, {bad} crashed or lost; of {len(whole)} well-formed"
        f" ORU^R01 {share:.1%} taken or held, must be {MUST:.0%}"
    )
    return int(bool(bad) or share < MUST)


if __name__ == "__main__":
    sys.exit(main())
