from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from labs.documents.pdf_check import PdfCheckFailed
from labs.models import InboundReport, LabDocument, Order
from labs.operations.documents import lab_documents
from labs.operations.documents.lab_documents import (
    CHECK_JOB,
    ORPHAN_AGE,
    check_lab_document,
    delete_orphan_lab_documents,
    get_order_result_pdf,
    read_lab_document,
    refuse_unreadable_lab_document,
)
from labs.operations.erasure import erase_user_orders
from labs.operations.inbound.review import match_lab_report_manually
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import find_current_result_version
from labs.states.lab_documents import ResultPdfSource
from portal.lib.errors import DomainError, NotFound, Unavailable
from portal.lib.storage import write_stored_file
from portal.lib.storage.answers import StorageAway
from portal.lib.tenancy import acting_for
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import make_lab_document, make_order_sent_to_lab, take
from tests.factories.reports import encrypt, make_pdf
from tests.jobs import queued
from tests.labs.printed import pages_of
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db
FIRST, SECOND = make_pdf(), make_pdf(pages=2)


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


def receive(order, *lines, control_id="C1", **fields):
    test = make_test(*lines, placer=order.sample_id, **fields)
    return take(order.tenant, make_oru(test, control_id=control_id), lab=order.lab)


def result_pdf(order, **asked):
    found = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return get_order_result_pdf(order=found, **asked)


def documents_of(order):
    rows = LabDocument.objects.for_tenant(order.tenant).filter(order=order)
    return list(rows.order_by("number"))


def check_all(order):
    for document in documents_of(order):
        check_lab_document(tenant=order.tenant, document_id=document.pk)
    return documents_of(order)


def states(order):
    return [(one.number, one.status, one.fault) for one in documents_of(order)]


def files():
    folder = Path(django_settings.UPLOADS_DIR) / lab_documents.FOLDER
    return {
        path.relative_to(django_settings.UPLOADS_DIR).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


@contextmanager
def stays_held(order, error):
    before = [(one.pk, bytes(one.content)) for one in documents_of(order)]
    with pytest.raises(error):
        yield
    now = documents_of(order)
    assert {one.status for one in now} == {"held"}
    assert [(one.pk, bytes(one.content)) for one in now] == before
    assert files() == set()


def test_a_document_is_held_until_it_was_checked_and_then_stored(order):
    receive(order, obx(), obx_with_document(FIRST))

    (held,) = documents_of(order)
    was = (held.number, held.status, held.name, held.stored_as, held.checked_at)
    jobs = [job.inputs["document_id"] for job in queued() if job.name == CHECK_JOB]
    (kept,) = check_all(order)
    assert was == (1, "held", "Lab report", "", None)
    assert jobs == [str(held.pk)]
    assert (kept.status, kept.size, kept.results_version) == (
        "available",
        len(FIRST),
        1,
    )
    assert (bytes(kept.content), files()) == (b"", {kept.stored_as})
    assert read_lab_document(kept).body == FIRST
    assert ("store_lab_document", "order", str(order.pk)) in audited(order.tenant)


def test_a_document_makes_no_event_of_its_own_and_no_result(order):
    receive(order, obx(status="P"), status="P")
    before = emitted_types(order.tenant)

    receive(order, obx_with_document(FIRST), control_id="C2", status="P")
    check_all(order)

    assert emitted_types(order.tenant) == before
    assert find_current_result_version(order=order).number == 1
    assert states(order) == [(1, "available", "")]


def test_a_corrected_document_is_a_version_and_the_first_is_kept(order):
    receive(order, obx("91"), obx_with_document(FIRST))
    receive(
        order,
        obx("95", status="C"),
        obx_with_document(SECOND, status="C"),
        control_id="C2",
        status="C",
    )

    first, second = check_all(order)

    assert (first.series, first.results_version) == (second.series, 1)
    assert (second.number, second.results_version) == (2, 2)
    assert read_lab_document(first).body == FIRST
    assert result_pdf(order).body == SECOND
    assert result_pdf(order, number=1).body == FIRST


def test_the_same_document_again_is_no_version(order):
    receive(order, obx(), obx_with_document(FIRST))
    receive(order, obx(), obx_with_document(FIRST), control_id="C2")
    check_all(order)
    receive(order, obx(), obx_with_document(FIRST), control_id="C3")

    assert states(order) == [(1, "available", "")]


def test_two_documents_of_one_message_are_no_versions_of_each_other(order):
    receive(order, obx(), obx_with_document(FIRST), obx_with_document(SECOND))

    first, second = check_all(order)

    assert first.series != second.series
    assert result_pdf(order).name.startswith("results-")


def test_one_document_before_any_result_is_the_order_s_pdf(order):
    receive(order, obx_with_document(FIRST), status="P")

    (only,) = check_all(order)

    assert only.results_version is None
    assert result_pdf(order).body == FIRST
    with pytest.raises(NotFound) as refused:
        result_pdf(order, source=ResultPdfSource.ASSAY)
    assert refused.value.code == "results_not_found"


def test_results_that_were_corrected_without_a_document_are_ours_to_print(order):
    receive(order, obx("91"), obx_with_document(FIRST))
    check_all(order)
    receive(order, obx("95", status="C"), control_id="C2", status="C")

    chosen = result_pdf(order)

    assert "95" in pages_of(chosen.body)[0]
    assert result_pdf(order, source=ResultPdfSource.LAB).body == FIRST


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (obx_with_document(b"GIF89a picture"), ("refused", "not_pdf")),
        (obx_with_document(encrypt(FIRST)), ("refused", "encrypted")),
        (obx("", type="ED", id="PDF^Lab report^L", status="W"), ("withdrawn", "")),
    ],
)
def test_after_a_correction_that_nobody_can_see_ours_is_given(order, line, state):
    receive(order, obx(), obx_with_document(FIRST))
    receive(order, line, control_id="C2")
    check_all(order)

    assert states(order) == [(1, "available", ""), (2, *state)]
    assert result_pdf(order).name.startswith("results-")
    assert result_pdf(order, number=1).body == FIRST
    for asked in ({"source": ResultPdfSource.LAB}, {"number": 2}, {"number": 3}):
        with pytest.raises(NotFound) as refused:
            result_pdf(order, **asked)
        assert refused.value.code == "lab_document_not_found"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("^AP^PDF^Base64^", "empty"),
        ("^AP^PDF^Base64^J", "undecodable"),
        ("^TEXT^^A^a letter", "not_pdf"),
        ("^AP^PDF^Base64^R0lGODlh", "not_pdf"),
        ("^IM^JPEG^Base64^JVBERi0xLjc=", "type_mismatch"),
    ],
)
def test_what_is_not_what_it_says_is_refused_and_listed(order, value, fault):
    fields = {"type": "ED", "id": "PDF^Lab report^L"}
    message = receive(order, obx(), obx(value, **fields))

    (row,) = documents_of(order)
    assert (row.status, row.fault, bytes(row.content)) == ("refused", fault, b"")
    assert (message.status, message.answer) == ("taken", "AA")
    assert find_current_result_version(order=order).number == 1
    assert CHECK_JOB not in [job.name for job in queued()]


def test_a_document_over_the_bound_is_refused(order, monkeypatch):
    monkeypatch.setattr(lab_documents, "MAX_BYTES", len(FIRST) - 1)

    receive(order, obx(), obx_with_document(FIRST))

    assert states(order) == [(1, "refused", "too_large")]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (encrypt(FIRST), "encrypted"),
        (FIRST[:-200], "unreadable"),
        (b"%PDF-1.7 of nothing %%EOF", "unreadable"),
    ],
)
def test_a_pdf_that_does_not_open_is_refused_and_not_kept(order, content, fault):
    receive(order, obx_with_document(content))
    check_all(order)

    assert states(order) == [(1, "refused", fault)]
    assert bytes(documents_of(order)[0].content) == b""
    assert files() == set()


def test_what_the_scanner_names_is_refused_and_nothing_passes_without_it(
    order, settings, monkeypatch
):
    receive(order, obx_with_document(FIRST))
    settings.UPLOAD_SCANNER = "clamd:///nowhere/clamd.ctl"

    with stays_held(order, Unavailable):
        check_all(order)
    monkeypatch.setattr(
        "portal.lib.network.scanning.SCANNERS", {"clamd": lambda upload: False}
    )
    check_all(order)

    assert states(order) == [(1, "refused", "infected")]
    assert files() == set()


def test_a_document_is_held_while_storage_is_away(order, monkeypatch):
    receive(order, obx_with_document(FIRST))

    def away(name):
        raise StorageAway

    with monkeypatch.context() as patch:
        patch.setattr(lab_documents.storage, "write_stored_file", away)
        with stays_held(order, StorageAway):
            check_all(order)
    check_all(order)

    assert states(order) == [(1, "available", "")]


def test_a_document_that_kills_its_process_each_time_is_refused(order, monkeypatch):
    def die(content):
        raise PdfCheckFailed

    receive(order, obx_with_document(FIRST))
    monkeypatch.setattr(lab_documents, "check_pdf_opens", die)
    with stays_held(order, PdfCheckFailed):
        check_all(order)

    (row,) = documents_of(order)
    for _ in range(2):
        refuse_unreadable_lab_document(tenant=order.tenant, document_id=row.pk)

    assert states(order) == [(1, "refused", "unreadable")]


def test_two_checks_at_once_keep_one_file(order, monkeypatch):
    receive(order, obx_with_document(FIRST))
    (row,) = documents_of(order)
    really = lab_documents.check_pdf_opens

    def overtaken(content):
        monkeypatch.setattr(lab_documents, "check_pdf_opens", really)
        check_lab_document(tenant=order.tenant, document_id=row.pk)
        return really(content)

    monkeypatch.setattr(lab_documents, "check_pdf_opens", overtaken)
    check_lab_document(tenant=order.tenant, document_id=row.pk)

    (kept,) = documents_of(order)
    assert (kept.status, files()) == ("available", {kept.stored_as})


@pytest.mark.django_db(transaction=True)
def test_documents_of_two_messages_at_once_are_both_kept(alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant, codes=("A", "B"))
    start = Barrier(2)

    def work(code):
        lines = (obx(id=code), obx_with_document(FIRST))
        try:
            with acting_for(alice_tenant):
                start.wait()
                return receive(order, *lines, control_id=code, code=code).status
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(work, "AB"))

    found = documents_of(order)
    assert statuses == ["taken", "taken"]
    assert [(one.number, one.status) for one in found] == [(1, "held"), (2, "held")]
    assert len({one.series for one in found}) == 2
    assert sorted(one.results_version for one in found) == [1, 2]


def test_a_reference_is_text_and_is_never_fetched(order):
    where = "https://lab.example/r?a=1&b=2"
    line = obx(f"{where}^LIS^AP^PDF", type="RP", id="PDF^Lab report^L")
    receive(order, obx(), line)
    receive(order, obx(), line, control_id="C2")

    (row,) = check_all(order)

    assert (row.status, row.pointer, row.stored_as) == ("reference", where, "")
    assert result_pdf(order).name.startswith("results-")


def test_what_is_awaited_is_no_document(order):
    receive(order, obx(), obx("", type="ED", id="PDF^Lab report^L", status="I"))

    assert documents_of(order) == []


def test_a_document_without_a_lost_file_is_not_found(order):
    document = make_lab_document(order=order)
    default_storage.delete(document.stored_as)

    with pytest.raises(NotFound) as refused:
        read_lab_document(document)

    assert refused.value.code == "lab_document_not_found"


def test_an_unmatched_report_brings_its_document_when_it_is_matched(order):
    test = make_test(obx(), obx_with_document(FIRST), placer="NOBODYS")
    take(order.tenant, make_oru(test), lab=order.lab)
    report = InboundReport.objects.for_tenant(order.tenant).get()
    before = documents_of(order)

    match_lab_report_manually(
        report=report, actor=ACTOR, order_id=order.pk, why="Same person."
    )

    assert before == []
    assert states(order) == [(1, "held", "")]


def test_a_report_that_can_t_be_matched_stores_no_document(order):
    Order.objects.for_tenant(order.tenant).update(
        status="cancelled.walk_in_test.cancelled"
    )
    receive(order, obx(), obx_with_document(FIRST))

    assert documents_of(order) == []
    assert CHECK_JOB not in [job.name for job in queued()]


def test_documents_go_with_their_order_and_others_stay(
    order, django_capture_on_commit_callbacks
):
    make_lab_document(order=order)
    other = make_order_sent_to_lab(tenant=order.tenant)
    kept = make_lab_document(order=other)

    with django_capture_on_commit_callbacks(execute=True):
        erase_user_orders(order.tenant.pk, order.user.uuid)

    assert documents_of(order) == []
    assert files() == {kept.stored_as}
    with pytest.raises(DomainError):  # a check that comes too late keeps nothing
        lab_documents._finish(kept, "held")


def test_an_old_file_without_a_row_is_swept_alone(order):
    kept = make_lab_document(order=order).stored_as
    names = [kept, f"{lab_documents.FOLDER}/aa/old", f"{lab_documents.FOLDER}/aa/new"]
    for name in names[1:]:
        with write_stored_file(name) as file:
            file.write(b"left")
    then = (timezone.now() - ORPHAN_AGE - timedelta(minutes=1)).timestamp()
    for name in names[:2]:
        os.utime(default_storage.path(name), (then, then))

    removed = delete_orphan_lab_documents()

    assert (removed, files()) == (1, {names[0], names[2]})
