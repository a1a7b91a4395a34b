"""Checks and parsing of uploads, by children that answer well, badly or not at all."""

from __future__ import annotations

from datetime import timedelta

import orjson
import pypdfium2
import pytest

from reports.operations.reading import extraction
from reports.operations.reading.child_process import OutOfTime
from reports.operations.reading.extraction import (
    check_upload_files,
    check_upload_files_during_request,
    parse_stored_report_files,
)
from reports.parser.intake import FileKind, OpenedFile, RefusedFile
from reports.parser.parsing import parse_report
from reports.parser.report import UnreadableReport
from tests.factories.reports import (
    encrypt,
    make_bomb,
    make_endless_pdf,
    make_huge_page,
    make_letter,
    make_pdf,
    make_picture,
)
from tests.reports.operations.reading.children import bound_as_asked, say

PDF, PNG = "application/pdf", "image/png"


def test_the_child_reads_what_the_parser_reads(report):
    assert parse_stored_report_files(report) == parse_report(report)


def test_the_parsers_reason_is_kept(tmp_path):
    path = tmp_path / "letter"
    path.write_bytes(make_letter())

    with pytest.raises(UnreadableReport) as refusal:
        parse_stored_report_files(path)

    assert refusal.value.reason == "invalid_input"


def test_each_file_is_opened(report, tmp_path):
    picture = tmp_path / "picture"
    picture.write_bytes(make_picture("PNG"))

    opened = check_upload_files([(report, PDF), (picture, PNG)])

    assert opened == [OpenedFile(FileKind.PDF, 1), OpenedFile(FileKind.PNG, 1)]


def test_the_first_refused_file_says_why(report, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(encrypt(make_pdf()))

    with pytest.raises(RefusedFile) as refusal:
        check_upload_files([(report, PDF), (secret, PDF)])

    assert refusal.value.code == "encrypted_file"


def test_a_bomb_bursts_in_the_child(tmp_path):
    bomb = tmp_path / "bomb"
    bomb.write_bytes(make_bomb())
    assert bomb.stat().st_size < 20_000

    with pytest.raises(RefusedFile):
        check_upload_files([(bomb, PDF)])
    with pytest.raises(UnreadableReport) as refusal:
        parse_stored_report_files(bomb)

    assert refusal.value.reason == "processing_error"


def test_a_huge_page_is_read_or_refused_like_any_other(tmp_path):
    huge = tmp_path / "huge"
    huge.write_bytes(make_huge_page())

    (opened,) = check_upload_files([(huge, PDF)])
    try:
        names = [result.test_name for result in parse_stored_report_files(huge).results]
    except UnreadableReport as refusal:
        names = [refusal.reason]

    assert opened.pages == 1
    assert names in (
        ["Glucose", "Creatinine", "Sodium", "Potassium"],
        ["invalid_input"],
        ["low_quality"],
    )


ENDS = {
    "killed": "os.kill(os.getpid(), 9)",
    "crashed": "os.abort()",
    "silent": "",
    "talking nonsense": "print('Glucose 105')",
    "answering another question": 'print(\'{"weather": "fine"}\')',
    "failing": 'print(\'{"fault": "ValueError at rows.py:1"}\')',
    "endless in output": "while True: os.write(1, b'x' * 65536)",
    "endless in time": "import time\nwhile True: time.sleep(1)",
}


@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS.keys())
def test_a_child_that_gives_no_report_fails_the_job_alone(
    text, child, report, monkeypatch
):
    child(text)
    monkeypatch.setattr(extraction, "PARSE_TIMEOUT", timedelta(seconds=1))
    monkeypatch.setattr(extraction, "INSPECT_TIMEOUT", timedelta(seconds=1))

    with pytest.raises(UnreadableReport) as unreadable:
        parse_stored_report_files(report)
    with pytest.raises(RefusedFile) as refused:
        check_upload_files([(report, PDF)])

    assert unreadable.value.reason == "processing_error"
    assert refused.value.code == "unreadable_file"


LOOKS = {
    "out of the processor's time": ("while True: pass", OutOfTime),
    "as good as that": ("os.kill(os.getpid(), 9)", OutOfTime),
    "silent": ("import time\ntime.sleep(600)", OutOfTime),
    "crashed": ("os.abort()", RefusedFile),
    "out of memory": ('print(\'{"fault": "MemoryError at a.py:1"}\')', RefusedFile),
}


@pytest.mark.parametrize(("text", "end"), LOOKS.values(), ids=LOOKS.keys())
def test_a_look_without_an_answer_is_undecided_only_where_time_was_short(
    text, end, child, report, monkeypatch
):
    child(bound_as_asked(text))
    monkeypatch.setattr(extraction, "QUICK_INSPECT_CPU_SECONDS", 1)
    if "sleep" in text:
        monkeypatch.setattr(extraction, "QUICK_INSPECT_TIMEOUT", timedelta(seconds=1))

    with pytest.raises(end):
        check_upload_files_during_request([(report, PDF)])


def test_a_look_gets_three_seconds_of_the_processor_and_gives_way(
    child, report, caplog
):
    child(
        bound_as_asked(
            "import resource\n"
            + say("(resource.getrlimit(resource.RLIMIT_CPU), os.nice(0) > 0)")
        )
    )

    with pytest.raises(RefusedFile):
        check_upload_files_during_request([(report, PDF)])

    assert "((3, 3), True)" in caplog.text


def test_a_page_that_draws_itself_is_no_readable_file_however_long_one_looks(
    tmp_path, monkeypatch
):
    path = tmp_path / "loop"
    path.write_bytes(make_endless_pdf())
    assert path.stat().st_size < 800
    monkeypatch.setattr(extraction, "INSPECT_CPU_SECONDS", 1)
    monkeypatch.setattr(extraction, "QUICK_INSPECT_CPU_SECONDS", 1)

    with pytest.raises(OutOfTime):
        check_upload_files_during_request([(path, PDF)])
    with pytest.raises(RefusedFile) as refusal:
        check_upload_files([(path, PDF)])

    assert refusal.value.code == "unreadable_file"


def test_the_child_reads_pictures_of_pages_within_its_bounds(tmp_path):
    pytest.importorskip("rapidocr", reason="pictures need the OCR group")
    page = pypdfium2.PdfDocument(make_pdf())[0].render(scale=110 / 72).to_pil()
    paths = [tmp_path / "first.png", tmp_path / "second.png"]
    page.crop((60, 60, 860, 420)).save(paths[0])
    page.crop((60, 900, 860, 1200)).save(paths[1])

    found = parse_stored_report_files(*paths)

    assert found.pages == 2
    assert [row.value for row in found.results] == ["105", "0.9", "140", "4.1"]


def test_a_missing_reader_of_pictures_is_said_in_the_log(child, report, caplog):
    refusal = {"unreadable": "processing_error", "without_engine": True}
    child(f"sys.stdout.write({orjson.dumps(refusal).decode()!r})")

    with pytest.raises(UnreadableReport) as unreadable:
        parse_stored_report_files(report)

    assert unreadable.value.reason == "processing_error"
    assert "group ocr" in caplog.text


@pytest.mark.parametrize("lie", ['{"opened": [["poem", 1]]}', '{"opened": 3}'])
def test_an_opened_file_no_parser_knows_is_not_believed(lie, child, report):
    child(f"print({lie!r})")

    with pytest.raises(RefusedFile) as refusal:
        check_upload_files([(report, PDF)])

    assert refusal.value.code == "unreadable_file"
