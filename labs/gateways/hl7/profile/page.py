"""Makes the reference page of the HL7 messages that Assay sends and reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.hl7.profile.fields import (
    CATALOGUE_PROFILE,
    ORDER_PROFILE,
    RESULTS_PROFILE,
)
from labs.gateways.hl7.profile.received import ANSWERS_PROFILE, RECEIVED_PROFILE
from labs.gateways.hl7.profile.samples import (
    write_sample_catalogue_messages,
    write_sample_order_messages,
    write_sample_results_messages,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labs.gateways.hl7.profile.fields import ProfileField

_INTRODUCTION = """\
What Assay writes to laboratories and to a system of your own, in HL7 v2.5.1. \
[Connect a lab](../guides/connect-a-lab.md) says how messages travel. The samples are \
written by the code that writes messages; the people are made up.

Each message is one that strict readers accept: structures, data types and tables are \
those of v2.5.1. Lengths are not: nothing is cut but the names in MSH-4 to MSH-6. \
Usage: R always, RE where Assay knows it, C as the content says. What is not listed is \
not sent.

Answer each message with an ACK that has its MSH-10 in MSA-2. AA accepts it. AE and AR \
are shown to staff with the order. A message may come again, with the same MSH-10 and \
content: take it once."""
_ORDERS = """\
One message for each new order (`NW`) and for each cancellation (`CA`), with an ORC \
and OBR for each test. BLG ends each test: without it, readers of OML^O21 take the \
next test for an earlier result. A lab account has two settings: one message per test, \
and IN1 on every order with who pays in IN1-47. Otherwise IN1 is sent for insured \
orders only. Return ORC-2 in your results."""
_RESULTS = """\
One message for each version of an order's results: partial, final, corrected. Each \
has all results known then. A correction marks what it changed with C in OBX-11, and \
what it took back with D, under the OBR-3, OBX-3 and OBX-4 of the first. The lab's PDF \
is a message of its own."""

_RECEIVED = """\
Assay reads results of every version 2. A message without a test, or with results that \
come before any test of their patient, is refused (AE or AR). Otherwise each line is \
taken or held: what is certain goes to the order, and a line in doubt is held under \
*Unmatched results* until a person decides. The acknowledgement lists held lines in \
ERR, as AA or, by the lab account's setting, as AE. Other segments and fields are \
stored, not read.

Usage: R without which the message is refused, H without which, or in doubt of which, \
a line is held, O read where it is sent. Held as well: a line with characters that \
can't be read, one that a line break splits, an OBX before its OBR, and a result \
behind its specimen."""

_ANSWERS = """\
Answer orders at once over the same connection, or later by a message of your own. \
ACK, ORL^O22 and ORR^O02 are read. Later ones are acknowledged, an ACK is not. \
Usage: R without which the answer is refused, O read where it is sent."""
_CATALOGUE = """\
A lab's tests, written by *Own catalog* and `export_lab_catalogue --hl7`, and read \
from a file by *Own catalog* and `import_lab_catalogue`, never over a connection. M08 \
has tests of one result, M10 batteries. The lab is one that the catalog has already. \
What a message does not say stays as it is stored: prices, order questions, \
stability, worst turnaround, coded values. Send the tests of a battery's results by \
M08 first. A wrong record is named with its segment's number in the file and its \
field, and nothing of the file is stored."""
_OTHERS = """\
Assay takes no orders. OML, ORM and all other messages are refused with AR and error \
200, stored, and shown to staff under *Unmatched results*. The acknowledgement is an \
ACK with the event of the message (`ACK^O21`)."""


def build_hl7_messages_reference(mark: str) -> str:
    """Return docs/reference/hl7-messages.md; `mark` says that it is generated."""
    lines = ["# HL7 messages", "", mark, "", _INTRODUCTION]
    lines += ["", "## Orders: OML^O21", "", _ORDERS, ""]
    lines += _describe_fields(ORDER_PROFILE)
    lines += _show_samples(write_sample_order_messages())
    lines += ["", "## Results: ORU^R01", "", _RESULTS, ""]
    lines += _describe_fields(RESULTS_PROFILE)
    lines += _show_samples(write_sample_results_messages())
    lines += ["", "## Results that are received: ORU^R01", "", _RECEIVED, ""]
    lines += _describe_fields(RECEIVED_PROFILE)
    lines += ["", "## Answers to orders: ACK, ORL and ORR", "", _ANSWERS, ""]
    lines += _describe_fields(ANSWERS_PROFILE)
    lines += ["", "## Tests of a lab: MFN^M08 and MFN^M10", "", _CATALOGUE, ""]
    lines += _describe_fields(CATALOGUE_PROFILE)
    lines += _show_samples(write_sample_catalogue_messages())
    lines += ["", "## Other messages", "", _OTHERS]
    return "\n".join(lines) + "\n"


def _describe_fields(profile: Sequence[ProfileField]) -> Iterator[str]:
    yield "| Field | Name | Usage | Content | Table |"
    yield "|---|---|---|---|---|"
    for one in profile:
        yield (
            f"| {one.segment}-{one.number} | {one.name} | {one.usage} | {one.content} |"
            f" {one.table} |"
        )


def _show_samples(samples: Mapping[str, Sequence[bytes]]) -> Iterator[str]:
    for name, messages in samples.items():
        yield from ("", f"### {name}", "", "```text")
        texts = [raw.decode().replace("\r", "\n").rstrip() for raw in messages]
        yield "\n\n".join(texts)
        yield "```"
