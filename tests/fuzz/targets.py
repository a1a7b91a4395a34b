"""What reads bytes of strangers, each as one call that may refuse and do no more."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import pypdfium2 as pdfium

from accounts.webhooks.delivery.http_response import Answer, AnswerInvalid
from labs.gateways.hl7.messages import (
    MalformedMessage,
    parse_hl7_message,
    split_hl7_messages,
)
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.operations.catalogue.catalogue_files import parse_lab_catalogue
from labs.operations.catalogue.catalogue_messages import read_catalogue_messages
from labs.operations.catalogue.catalogue_rows import COLUMNS, read_catalogue_rows
from portal.lib.errors import DomainError
from portal.lib.periods import find_time_zone_by_name
from reports.parser.documents import read_pdf_pages
from reports.parser.intake import RefusedFile, check_file_can_be_opened
from reports.parser.layout.text_layer import TooManyPages
from reports.parser.parsing import parse_report_pages
from reports.parser.report import UnreadableReport
from users.operations.phones.uploads import parse_upload
from users.wearables.formats.fhir.lab_reports import (
    describe_resource_kind,
    is_laboratory_resource,
    read_lab_report,
    read_lab_result,
)
from users.wearables.formats.parts import read_import_file_parts
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.staging import parse_file_into_parts
from users.wearables.phones.health_auto_export import read_health_auto_export_batch
from users.wearables.phones.health_connect import read_health_connect_batch
from users.wearables.phones.open_wearables import read_open_wearables_batch
from users.wearables.phones.own import read_own_batch
from users.wearables.readings import Context, ElementsInvalid
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import parse_sample_batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.wearables.phones.records import ReadBatch, Rows

CONTEXT = Context(
    user_uuid=UUID(int=7),
    provider="manual",
    time_zone="Europe/Berlin",
    zone=find_time_zone_by_name("Europe/Berlin"),
    now=datetime(2026, 3, 9, 12, tzinfo=UTC),
)
_PAGES_MAX = 30
_FORMS = 4


@dataclass(frozen=True, slots=True)
class Target:
    """A reader: what it is given, what it may raise, and packages to look into.

    `watched` are those whose branches guide a long run.
    """

    run: Callable[[bytes], None]
    refusals: tuple[type[Exception], ...]
    watched: tuple[str, ...]
    largest: int = 64 * 1024


@cache
def _folder() -> Path:
    """A folder of this process in memory where there is one: it is written often."""
    shared = Path("/dev/shm")  # noqa: S108 - a name that nobody guesses
    root = str(shared) if os.access(shared, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="assay-fuzz-", dir=root))


def _as_file(content: bytes) -> Path:
    path = _folder() / "given"
    path.write_bytes(content)
    return path


def _read_file(content: bytes) -> None:
    """A file that a user uploads: its format is found, its rows are staged."""
    path, parts = _as_file(content), _folder() / "parts"
    parse_file_into_parts(
        path,
        parts,
        format_=detect_file_format(path),
        context=CONTEXT,
        on_progress=lambda _: None,
    )
    for _part in read_import_file_parts(parts):
        pass


def _read_phone_batch(content: bytes) -> None:
    """A batch of a phone, of the form that its first byte names; elements as pushed."""
    form, body = content[:1], parse_upload(content[1:])
    match form[0] % _FORMS if form else 0:
        case 0:
            body["provider"] = "apple"
            batch = read_open_wearables_batch(body, CONTEXT)
        case 1:
            batch = read_health_auto_export_batch(body, CONTEXT)
        case 2:
            batch = read_health_connect_batch(body, CONTEXT, str(body.get("type")))
        case _:
            batch = read_own_batch(body, CONTEXT, "health_connect")
    for (slug, _origin), rows in batch.samples.items():
        _try_elements(partial(parse_sample_batch, TIMESERIES[slug]), rows, batch)
    for (slug, _origin), rows in batch.summaries.items():
        _try_elements(SUMMARIES[slug].read, rows, batch)


def _try_elements(read: Callable[..., Any], rows: Rows, batch: ReadBatch) -> None:
    """Have elements read one by one, as storing does with those that are refused."""
    for element in rows.elements[:50]:
        try:
            read([element], batch.context)
        except ElementsInvalid:
            continue


def _read_results(content: bytes) -> None:
    """Messages of a lab, split, parsed, and read as results."""
    for raw in split_hl7_messages(content):
        parse_hl7_result_reports(parse_hl7_message(raw))


def _read_catalogue(content: bytes) -> None:
    """A lab's own catalogue: HL7, or a CSV file that the first byte names."""
    names = [*COLUMNS, "hl7"]
    name = names[content[0] % len(names)] if content else "hl7"
    if name == "hl7":
        stored: dict[str, list[Any]] = {each: [] for each in COLUMNS}
        rows = read_catalogue_messages(content[1:], stored=stored)
    else:
        rows = read_catalogue_rows({name: content[1:]})
    parse_lab_catalogue(rows, labs={})


def _read_answer(content: bytes) -> None:
    """What an endpoint answers to a webhook, in pieces as long as the first byte."""
    answer, size = Answer(), (content[0] if content else 0) + 1
    for first in range(1, len(content), size):
        if answer.feed(content[first : first + size]):
            break
    answer.header("content-type")
    assert len(answer.body) <= 16 * 1024


def _read_pdf(content: bytes) -> None:
    """A report's file as the child process takes it, but for pictures of pages."""
    path = _as_file(content)
    check_file_can_be_opened(path)
    if content.startswith(b"%PDF"):
        parse_report_pages(read_pdf_pages(path, at_most=_PAGES_MAX))


def _read_clinical_record(content: bytes) -> None:
    """A clinical record beside an Apple Health export."""
    resource = orjson.loads(content)
    if isinstance(resource, dict):
        is_laboratory_resource(resource)
        describe_resource_kind(resource)
        read_lab_result(resource)
        read_lab_report(resource, lambda _key: resource)


TARGETS = {
    "files": Target(
        _read_file,
        (FileRefused,),
        ("users.wearables.formats", "users.wearables.streams"),
    ),
    "phones": Target(
        _read_phone_batch,
        (DomainError,),
        ("users.wearables.phones", "users.wearables.readings"),
    ),
    "results": Target(_read_results, (MalformedMessage,), ("labs.gateways.hl7",)),
    "catalogue": Target(
        _read_catalogue, (DomainError,), ("labs.operations.catalogue",)
    ),
    "answers": Target(
        _read_answer, (AnswerInvalid,), ("accounts.webhooks.delivery.http_response",)
    ),
    "reports": Target(
        _read_pdf,
        (RefusedFile, TooManyPages, UnreadableReport, pdfium.PdfiumError),
        ("reports.parser.intake", "reports.parser.layout"),
    ),
    "clinical": Target(
        _read_clinical_record,
        (orjson.JSONDecodeError,),
        ("users.wearables.formats.fhir",),
    ),
}


def try_input(target: Target, content: bytes) -> None:
    """Have a target read an input; what it refuses is refused. Raises: any fault."""
    try:
        target.run(content)
    except target.refusals:
        return
