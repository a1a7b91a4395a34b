from __future__ import annotations

import subprocess

import pytest

from labs.documents import pdf_check
from labs.documents.pdf_check import (
    PdfCheckFailed,
    PdfOutcome,
    check_pdf_opens,
    open_pdf,
)
from tests.factories.reports import encrypt, make_pdf


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        (make_pdf(pages=3), PdfOutcome.READABLE),
        (encrypt(make_pdf()), PdfOutcome.ENCRYPTED),
        (make_pdf()[:-200], PdfOutcome.UNREADABLE),  # cut off
        (b"%PDF-1.7\nnothing\n%%EOF\n", PdfOutcome.UNREADABLE),
        (b"", PdfOutcome.UNREADABLE),
    ],
)
def test_a_pdf_is_opened_for_what_it_is(content, outcome):
    assert open_pdf(content) == outcome


def test_it_is_opened_in_a_process_of_its_own():
    assert check_pdf_opens(make_pdf()) == PdfOutcome.READABLE
    assert check_pdf_opens(encrypt(make_pdf())) == PdfOutcome.ENCRYPTED


def test_a_process_that_dies_or_hangs_has_no_outcome(monkeypatch):
    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(pdf_check, "MODULE", "labs.documents.no_such_module")
    with pytest.raises(PdfCheckFailed):
        check_pdf_opens(make_pdf())
    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(PdfCheckFailed):
        check_pdf_opens(make_pdf())


def test_pages_have_a_bound(monkeypatch):
    monkeypatch.setattr(pdf_check, "PAGES_MAX", 1)

    assert open_pdf(make_pdf(pages=2)) == PdfOutcome.UNREADABLE
