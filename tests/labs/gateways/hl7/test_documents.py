from __future__ import annotations

import base64

import pytest

from labs.gateways.hl7.documents import DocumentUndecodable, decode_hl7_document
from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.results import parse_hl7_result_reports
from tests.factories.hl7 import make_oru, make_test, obx

PDF = b"%PDF-1.7 of a lab %%EOF"
TEXT = base64.b64encode(PDF).decode()


def read(*lines, **fields):
    (report,) = parse_hl7_result_reports(
        parse_hl7_message(make_oru(make_test(*lines, **fields)))
    )
    return report.tests[0]


def document(value, **fields):
    fields = {"type": "ED", "id": "PDF^Report^L", "unit": "", "range": "", **fields}
    return obx(value, **fields)


def test_a_document_is_read_apart_from_the_results():
    test = read(obx(), document(f"LIS^AP^PDF^Base64^{TEXT}", status="C", sub="2"))

    (found,) = test.documents
    assert len(test.observations) == 1
    assert (found.code, found.name, found.sub_id) == ("PDF", "Report", "2")
    assert (found.status, found.is_pointer, found.is_withdrawn) == ("C", False, False)
    assert decode_hl7_document(found) == PDF


@pytest.mark.parametrize(
    "value",
    [
        f"^AP^^Base64^{TEXT}",
        f"^application^pdf^^{TEXT}",
        f"PDF^Base64^{TEXT}",
        TEXT,
        TEXT.rstrip("="),
        f"^TEXT^PDF^Base64^{TEXT[:8]}\\.br\\{TEXT[8:16]}\\X0D0A\\{TEXT[16:]}",
        f"^AP^PDF^Hex^{PDF.hex()}",
    ],
)
def test_a_file_is_decoded_however_the_lab_writes_it(value):
    (found,) = read(document(value)).documents

    assert decode_hl7_document(found) == PDF
    assert not found.is_declared_as_other_type


def test_a_file_in_plain_text_is_that_text():
    (found,) = read(document("^TEXT^^A^see the letter")).documents

    assert decode_hl7_document(found) == b"see the letter"


@pytest.mark.parametrize("text", ["JVBER", "%PDF-1.7", "JVBE\\Z9\\Ri0="])
def test_text_that_is_no_base64_is_said_so(text):
    (found,) = read(document(f"^AP^PDF^Base64^{text}")).documents

    with pytest.raises(DocumentUndecodable):
        decode_hl7_document(found)


def test_a_type_that_is_no_pdf_is_seen():
    pictures = read(document(f"^IM^JPEG^Base64^{TEXT}")).documents

    assert [one.is_declared_as_other_type for one in pictures] == [True]


def test_each_repetition_is_a_document_and_one_without_value_is_too():
    several = read(document(f"^AP^PDF^Base64^{TEXT}~^AP^PDF^Base64^AAAA")).documents
    (withdrawn,) = read(document("", status="D")).documents
    (awaited,) = read(document("", status="I")).documents

    assert [one.data for one in several] == [TEXT, "AAAA"]
    assert (withdrawn.is_withdrawn, withdrawn.data) == (True, "")
    assert awaited.is_awaited


def test_a_pointer_is_text():
    where = "https://lab.example/r?a=1&b=2"
    (found,) = read(document(f"{where}^LIS^AP^PDF", type="RP")).documents

    assert (found.is_pointer, found.data) == (True, where)


def test_a_document_after_the_specimen_is_not_taken_for_one_of_the_specimen():
    volume = "OBX|2|NM|SPM^Volume^L||5|mL|||||F"
    test = read(obx(), "SPM|1|S-1", document(f"^AP^PDF^Base64^{TEXT}"), volume)

    assert len(test.documents) == 1
    assert len(test.observations) == 1  # as before: what follows is of the specimen
