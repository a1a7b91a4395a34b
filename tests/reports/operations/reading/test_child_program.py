"""The child process: what it answers, what it can't do, and when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from reports.operations.reading import child_program
from reports.operations.reading.extraction import parse_stored_report_files
from reports.parser.report import UnreadableReport
from tests.factories.reports import make_letter
from tests.reports.operations.reading.children import bound, say

PDF, PNG = "application/pdf", "image/png"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (make_letter(), {"unreadable": "invalid_input", "script": None}),
        (b"%PDF-1.7\nnothing", {"unreadable": "processing_error", "script": None}),
    ],
    ids=["letter", "damaged"],
)
def test_the_child_says_why_a_report_is_unreadable(content, expected, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)

    assert orjson.loads(child_program.build_answer({"parse": [str(path)]})) == expected


def test_the_child_says_which_files_it_opened(report):
    fields = {"inspect": [[str(report), PDF]]}

    assert orjson.loads(child_program.build_answer(fields)) == {"opened": [[PDF, 1]]}


def test_the_child_says_which_file_it_refuses(report):
    fields = {"inspect": [[str(report), PNG]]}

    assert orjson.loads(child_program.build_answer(fields)) == {
        "refused": "file_type_mismatch"
    }


def test_the_child_says_where_it_failed_and_not_on_what(tmp_path):
    answer = orjson.loads(
        child_program.build_answer({"parse": [str(tmp_path / "Beispiel")]})
    )

    assert answer["fault"].startswith("FileNotFoundError at ")
    assert "Beispiel" not in answer["fault"]


def test_the_child_says_what_it_read(report):
    answer = orjson.loads(child_program.build_answer({"parse": [str(report)]}))

    assert answer["report"]["metadata"]["patient_last_name"] == "Beispiel"


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
