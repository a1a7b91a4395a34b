"""The child process: what it answers, what it can't do, and what its end leads to."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import orjson
import pypdfium2
import pytest

from reports.operations.reading import extraction
from reports.operations.reading.extraction import (
    OutOfTime,
    check_upload_files,
    check_upload_files_during_request,
    parse_stored_report_files,
)
from reports.parser.intake import FileKind, OpenedFile, RefusedFile
from reports.parser.parsing import parse_report
from reports.parser.report import ParsedReport, UnreadableReport
from tests.factories.reports import (
    encrypt,
    make_bomb,
    make_endless_pdf,
    make_huge_page,
    make_letter,
    make_parsed,
    make_parsed_result,
    make_pdf,
    make_picture,
)

PDF, PNG = "application/pdf", "image/png"


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report"
    path.write_bytes(make_pdf())
    return path


@pytest.fixture
def child(monkeypatch, tmp_path):
    """Let the child run this Python text in place of the parser."""

    def run(text: str) -> None:
        script = tmp_path / "child.py"
        script.write_text(f"import os, sys\nsys.stdin.read()\n{text}\n")
        monkeypatch.setattr(extraction, "_COMMAND", (sys.executable, str(script)))

    return run


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


def test_a_child_that_shows_life_may_take_longer(child, report, monkeypatch):
    monkeypatch.setattr(extraction, "PARSE_TIMEOUT", timedelta(seconds=2))
    child(
        "import time\n"
        "for _ in range(6):\n"
        "    time.sleep(0.5)\n"
        "    os.write(1, b' ')\n" + answer()
    )

    assert parse_stored_report_files(report) == make_parsed()


def test_a_child_that_only_shows_life_is_stopped(child, report, monkeypatch):
    monkeypatch.setattr(extraction, "PARSE_TIMEOUT", timedelta(seconds=1))
    monkeypatch.setattr(extraction, "MOST_STEPS", 2)
    child("import time\nwhile True:\n    os.write(1, b' ')\n    time.sleep(0.1)")

    with pytest.raises(UnreadableReport) as unreadable:
        parse_stored_report_files(report)

    assert unreadable.value.reason == "processing_error"


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


def answer(**changes) -> str:
    """The child's answer of one row, some of its fields changed."""
    plain = orjson.loads(orjson.dumps(make_parsed(), default=list))
    plain["results"][0].update(changes)
    return f"sys.stdout.write({orjson.dumps({'report': plain}).decode()!r})"


@pytest.mark.parametrize("lie", ['{"opened": [["poem", 1]]}', '{"opened": 3}'])
def test_an_opened_file_no_parser_knows_is_not_believed(lie, child, report):
    child(f"print({lie!r})")

    with pytest.raises(RefusedFile) as refusal:
        check_upload_files([(report, PDF)])

    assert refusal.value.code == "unreadable_file"


def test_a_child_that_dies_before_it_is_asked_answers_nothing():
    dead = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    dead.wait()

    assert extraction._exchange_with_child(dead, b"{}", timedelta(seconds=9)) == b""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (make_letter(), {"unreadable": "invalid_input"}),
        (b"%PDF-1.7\nnothing", {"unreadable": "processing_error"}),
    ],
    ids=["letter", "damaged"],
)
def test_the_child_says_why_a_report_is_unreadable(content, expected, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)

    assert orjson.loads(extraction._build_answer({"parse": [str(path)]})) == expected


def test_the_child_says_which_files_it_opened(report):
    fields = {"inspect": [[str(report), PDF]]}

    assert orjson.loads(extraction._build_answer(fields)) == {"opened": [[PDF, 1]]}


def test_the_child_says_which_file_it_refuses(report):
    fields = {"inspect": [[str(report), PNG]]}

    assert orjson.loads(extraction._build_answer(fields)) == {
        "refused": "file_type_mismatch"
    }


def test_the_child_says_where_it_failed_and_not_on_what(tmp_path):
    answer = orjson.loads(
        extraction._build_answer({"parse": [str(tmp_path / "Beispiel")]})
    )

    assert answer["fault"].startswith("FileNotFoundError at ")
    assert "Beispiel" not in answer["fault"]


def test_the_child_says_what_it_read(report):
    answer = orjson.loads(extraction._build_answer({"parse": [str(report)]}))

    assert answer["report"]["metadata"]["patient_last_name"] == "Beispiel"


def test_an_answer_is_read_back_as_it_was(child, report):
    child(answer())

    assert parse_stored_report_files(report) == make_parsed()


LIES = {
    "a number for text": {"test_name": 5},
    "text for a number": {"min_reference_range": "70"},
    "true for a number": {"min_reference_range": True},
    "a number for true": {"is_above_max_range": 1},
    "an unknown value": {"type": "poem"},
    "an unknown key": {"secret": "x"},
    "text for a list": {"loinc_matches": "none"},
    "a point of three": {
        "provenance": {
            "name": {"page": 1, "polygon": [[1.0, 2.0, 3.0]]},
            "value": None,
            "units": None,
            "reference_range": None,
        }
    },
}


@pytest.mark.parametrize("changes", LIES.values(), ids=LIES.keys())
def test_an_answer_no_parser_gives_is_not_believed(changes, child, report):
    child(answer(**changes))

    with pytest.raises(UnreadableReport) as refusal:
        parse_stored_report_files(report)

    assert refusal.value.reason == "processing_error"


def test_a_nul_is_dropped_as_the_database_takes_none(child, report):
    child(answer(test_name="Glu\0cose"))

    assert parse_stored_report_files(report).results[0].test_name == "Glucose"


def test_a_whole_number_is_a_bound_too(child, report):
    child(answer(min_reference_range=70))

    assert parse_stored_report_files(report).results[0].min_reference_range == 70.0


def test_every_field_of_a_report_survives_the_way(child, report):
    full = make_parsed(
        results=(
            make_parsed_result(
                **{
                    field.name: "x"
                    for field in dataclasses.fields(make_parsed_result())
                    if field.name in {"source_panel_name", "reference_range"}
                }
            ),
        )
    )
    plain = orjson.dumps({"report": full}, default=list).decode()
    child(f"sys.stdout.write({plain!r})")

    found = parse_stored_report_files(report)

    assert isinstance(found, ParsedReport)
    assert found == full


def say(text: str) -> str:
    """Answer as the parser's fault, where the log shows it."""
    return f'import json\nprint(json.dumps({{"fault": str({text})}}))'


def test_the_child_gets_no_secrets(child, report, monkeypatch, caplog):
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@db/assay")
    monkeypatch.setenv("SECRET_KEY", "secret")
    child(say("sorted(os.environ)"))

    with pytest.raises(UnreadableReport):
        parse_stored_report_files(report)

    logged = caplog.messages[-1]
    assert "PATH" in logged
    assert "DATABASE_URL" not in logged
    assert "SECRET_KEY" not in logged


BOUND = """
import reports.operations.reading.extraction as extraction
extraction.limit_process_memory_and_cpu(os.getppid(), most_seconds=60)
"""


def bound(text: str) -> str:
    """The child under its own bounds."""
    root = str(extraction._ROOT)
    return f"sys.path.insert(0, {root!r})\n{BOUND}\n{text}"


def bound_as_asked(text: str) -> str:
    """The child under the bounds that its parent names."""
    return bound(text).replace("=60", "=int(sys.argv[2])")


def test_the_child_runs_out_of_memory_alone(child, report, caplog):
    child(
        bound(
            "try:\n    bytes(2 * 1024**3)\nexcept MemoryError:\n    "
            + say("'no memory'").replace("\n", "\n    ")
        )
    )

    with pytest.raises(UnreadableReport):
        parse_stored_report_files(report)

    assert "no memory" in caplog.text


def test_the_child_writes_no_file(child, report, tmp_path):
    target = tmp_path / "written"
    child(
        bound(
            "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"open({str(target)!r}, 'w').write('x')"
        )
    )

    with pytest.raises(UnreadableReport):
        parse_stored_report_files(report)

    assert not target.exists() or target.read_bytes() == b""


def test_the_child_outlives_a_stop_of_the_service(child, report, caplog):
    child(bound("os.kill(os.getpid(), 15)\n" + say("'alive'")))

    with pytest.raises(UnreadableReport):
        parse_stored_report_files(report)

    assert "alive" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="a service of the Linux kernel")
def test_the_child_dies_with_its_parent(tmp_path, report):
    note = tmp_path / "pid"
    script = tmp_path / "grandchild.py"
    script.write_text(
        bound(
            f"open({str(note)!r}, 'w')\n"
            "import time\nos.write(1, b'%d' % os.getpid())\nos.close(1)\n"
            "time.sleep(60)"
        ).replace("sys.path", "import os, sys\nsys.path", 1)
    )
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import os, subprocess, sys\n"
        f"p = subprocess.Popen([sys.executable, {str(script)!r}], stdout=-1)\n"
        "print(p.stdout.read().decode(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    found = subprocess.run([sys.executable, parent], capture_output=True, check=False)
    pid = int(found.stdout)

    deadline = time.monotonic() + 10
    while is_alive(pid):
        assert time.monotonic() < deadline, "it lives on"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] != "Z"
