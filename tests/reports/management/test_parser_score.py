"""The scorecard's command: its own corpus, a folder of reports, calibration."""

from __future__ import annotations

import importlib.util
from io import StringIO

import orjson
import pytest
from django.core.management import CommandError, call_command

from reports.management.scorecard.calibration import (
    Bin,
    build_reliability_bins,
    expected_error,
)
from reports.management.scorecard.marking import Claim
from reports.management.scorecard.scoring import spread_sample
from reports.management.scorecard.truth import InvalidTruth, TrueRow, read_folder
from tests.factories.reports import ROWS, make_letter, make_pdf

TRUTH = [
    {"test_name": name, "value": value, "units": unit, "reference_range": span}
    for name, value, unit, span in ROWS
]


def score(*arguments, **options):
    written = StringIO()
    call_command("parser_score", *map(str, arguments), stdout=written, **options)
    return written.getvalue().splitlines()


def put(folder, stem="report", *, content=None, **truth):
    (folder / f"{stem}.pdf").write_bytes(content or make_pdf())
    told = {"results": TRUTH} | truth
    (folder / f"{stem}.truth.json").write_bytes(orjson.dumps(told))


def shares(lines, layout):
    """The figures of a layout's line: shares in per cent, then rows."""
    [line] = [line for line in lines if line.startswith(f"{layout} ")]
    return line.split()[1:]


def test_a_folder_of_reports_is_scored_by_the_truth_beside_each(tmp_path):
    put(tmp_path)

    lines = score(tmp_path)

    assert shares(lines, "report") == [*["100.0"] * 5, "-", "-", "100.0", "4"]
    assert "0 rows invented, 0 values misread" in lines[3]


def test_what_the_truth_has_not_is_invented_and_what_it_has_too_is_missed(tmp_path):
    other = {"test_name": "Ferritin", "value": "41", "units": "ng/mL"}
    put(tmp_path, results=[*TRUTH[1:], other])

    lines = score(tmp_path, errors=True)

    assert shares(lines, "report")[:2] == ["75.0", "75.0"]
    assert "      missed   'Ferritin' = '41' 'ng/mL' [None]" in lines
    assert "      invented 'Glucose' = '105' 'mg/dL' ['70 - 99']" in lines


def test_pages_that_are_no_lab_report_are_counted_apart(tmp_path):
    put(tmp_path, content=make_letter(), is_lab_report=False, results=[])

    lines = score(tmp_path)

    assert lines[0] == "text, 1 not a lab report: 0 rows invented"


def test_a_refused_report_is_named_with_the_reason(tmp_path):
    put(tmp_path, content=make_letter())

    lines = score(tmp_path)

    assert shares(lines, "report")[0] == "0.0"
    assert "refused: report (invalid_input)" in lines


def test_a_truth_file_tells_kind_layout_pages_and_what_else_is_right(tmp_path):
    for name in ("one.jpg", "two.jpg"):
        (tmp_path / name).touch()
    row = TRUTH[0] | {"loinc": ["2345-7"], "optional": True, "also": ["Blood sugar"]}
    fields = {
        "kind": "photo",
        "layout": "ward",
        "files": ["one.jpg", "two.jpg"],
        "results": [row],
    }
    (tmp_path / "x.truth.json").write_bytes(orjson.dumps(fields))

    [report] = read_folder(tmp_path)

    assert (report.kind, report.layout) == ("photo", "ward")
    assert report.paths == (tmp_path / "one.jpg", tmp_path / "two.jpg")
    assert report.rows == (
        TrueRow(
            "Glucose",
            "105",
            "mg/dL",
            "70 - 99",
            loinc=("2345-7",),
            optional=True,
            also=("Blood sugar",),
        ),
    )


@pytest.mark.parametrize(
    "truth",
    [
        {"results": [{"value": "1"}]},
        {"results": "none"},
        {"results": [], "kind": "fax"},
        {"results": [], "files": ["gone.pdf"]},
        [],
    ],
    ids=["no name", "no rows", "unknown kind", "no report", "no object"],
)
def test_a_truth_file_of_another_shape_is_named(truth, tmp_path):
    (tmp_path / "x.pdf").write_bytes(make_pdf())
    (tmp_path / "x.truth.json").write_bytes(orjson.dumps(truth))

    with pytest.raises(InvalidTruth, match=r"x\.truth\.json"):
        read_folder(tmp_path)
    with pytest.raises(CommandError, match=r"x\.truth\.json"):
        score(tmp_path)


def test_without_a_folder_the_projects_own_corpus_is_scored():
    lines = score(kind=["text"], layout="sample-metabolic")

    assert shares(lines, "sample-metabolic")[-2:] == ["100.0", "26"]
    assert "LOINC over all kinds 100.0" in lines


def test_the_naive_pattern_is_worse_than_the_parser():
    lines = score(kind=["text"], layout="trap-two-halves", naive=True)

    assert shares(lines, "trap-two-halves")[-2:] == ["50.0", "22"]


def test_where_tests_are_not_installed_the_command_asks_for_a_folder(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(CommandError, match="FOLDER"):
        score(kind=["text"])


def test_pictures_are_left_out_where_nothing_could_draw_or_read_them(monkeypatch):
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "numpy" else name
    )

    lines = score(layout="sample-metabolic")

    assert shares(lines, "sample-metabolic")[-1] == "26"
    assert "photo: skipped, the dependency group ocr is not installed" in lines


def test_a_folder_without_reports_of_the_kind_is_an_error(tmp_path):
    put(tmp_path)

    with pytest.raises(CommandError):
        score(tmp_path, kind=["photo"])


def test_a_sample_is_the_same_each_time_and_differs_by_kind():
    names = [f"layout-{n}" for n in range(40)]

    sample = spread_sample(names, limit=5, salt="scan")

    assert sample == spread_sample(reversed(names), limit=5, salt="scan")
    assert len(set(sample)) == 5
    assert sample != spread_sample(names, limit=5, salt="photo")


def test_claims_are_binned_by_confidence_and_one_is_in_the_last():
    claims = [Claim("row", 0.6, False), Claim("row", 0.6, True), Claim("row", 1, True)]

    assert build_reliability_bins(claims) == [
        Bin(0.5, 0.7, 2, pytest.approx(0.6), 0.5),
        Bin(0.98, 1.0, 1, 1, 1),
    ]


def test_the_expected_error_weighs_each_bin_by_its_claims():
    claims = [Claim("row", 0.6, False), Claim("row", 0.6, True), Claim("row", 1, True)]

    assert expected_error(claims) == pytest.approx(2 * 0.1 / 3)
    assert expected_error([]) == 0


def test_pages_kept_from_one_run_give_the_same_marks_in_the_next(tmp_path):
    put(tmp_path)
    kept = tmp_path / "kept"

    first = score(tmp_path, pages=kept)
    [page_file] = kept.iterdir()
    changed = page_file.stat().st_mtime_ns
    again = score(tmp_path, pages=kept)

    assert first == again
    assert shares(first, "report")[0] == "100.0"
    assert page_file.stat().st_mtime_ns == changed
