"""The corpus is the same every time, and its truth stands in the files."""

from __future__ import annotations

import random

import pypdfium2
import pytest

from tests.reports.corpus import LAYOUTS, build_corpus
from tests.reports.corpus.printed import read_rows
from tests.reports.corpus.registry import draw_layout
from tests.reports.corpus.sample_files import FOLDER, NAMES, write_samples


def text_layer(path):
    document = pypdfium2.PdfDocument(path)
    text = "".join(page.get_textpage().get_text_range() for page in document)
    document.close()
    return "".join(text.split())


def test_the_corpus_has_at_least_35_layouts_of_lab_reports():
    reports = [layout for layout in LAYOUTS.values() if layout.is_lab_report]

    assert len(reports) >= 35


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_layout_draws_the_same_bytes_twice(name, tmp_path):
    first = draw_layout(LAYOUTS[name], tmp_path / "first.pdf")
    second = draw_layout(LAYOUTS[name], tmp_path / "second.pdf")

    assert first.path.read_bytes() == second.path.read_bytes()
    assert first.rows == second.rows


@pytest.mark.parametrize("name", [n for n, found in LAYOUTS.items() if found.has_text])
def test_every_true_value_stands_in_the_text_layer(name, tmp_path):
    report = draw_layout(LAYOUTS[name], tmp_path / "report.pdf")

    text = text_layer(report.path)

    missing = [r.value for r in report.rows if "".join(r.value.split()) not in text]
    assert missing == []


def test_codes_of_a_font_of_its_own_hide_the_letters_of_what_is_seen(tmp_path):
    report = draw_layout(LAYOUTS["trap-glyph-codes"], tmp_path / "report.pdf")

    assert [sign for sign in text_layer(report.path) if sign.isalnum()] == []
    assert report.kind == "scan"


def test_signs_that_few_fonts_have_stand_in_the_text_layer(tmp_path):
    names = ("uk-hba1c-and-superscripts", "trap-words-apart")

    superscripts, words = [
        text_layer(draw_layout(LAYOUTS[n], tmp_path / "report.pdf").path) for n in names
    ]

    assert [s for s in ("x10⁹/L", "x10¹²/L", "μmol/L") if s not in superscripts] == []
    assert "⁶" in words


def test_only_lab_reports_hold_rows(tmp_path):
    reports = build_corpus(tmp_path)

    assert {r.is_lab_report for r in reports if len(r.required_rows) >= 7} == {True}
    assert {r.is_lab_report for r in reports if len(r.required_rows) < 7} == {False}
    assert [r.rows for r in reports if not r.is_lab_report and r.rows] == []


def test_the_committed_samples_are_what_the_generator_draws(tmp_path):
    drawn = write_samples(tmp_path)

    assert [p.name for p in drawn] == list(NAMES.values())
    assert [p.read_bytes() for p in drawn] == [
        (FOLDER / p.name).read_bytes() for p in drawn
    ]


def test_another_seed_gives_other_values_of_the_same_tests(tmp_path):
    layout = LAYOUTS["sample-metabolic"]

    first = draw_layout(layout, tmp_path / "first.pdf")
    other = draw_layout(layout, tmp_path / "other.pdf", seed=1)

    values = {r.name: r.value for r in first.rows}
    changed = [r.name for r in other.rows if values[r.name] != r.value]
    assert {r.name for r in other.rows} <= values.keys()
    assert len(changed) >= 15


@pytest.mark.parametrize("seed", [1, 7])
def test_with_another_seed_the_values_stand_in_the_text_layer(seed, tmp_path):
    reports = build_corpus(tmp_path, seed=seed)

    for report in reports:
        text = text_layer(report.path)
        required = ["".join(r.value.split()) for r in report.required_rows]
        assert [value for value in required if value not in text] == []


def test_a_value_thrown_anew_keeps_its_decimals():
    text = "Sodium | 140,5 | mmol/l | 136,0 - 145,0 | sodium"

    [row] = read_rows(text, dice=random.Random(3), decimal_comma=True)  # noqa: S311

    assert len(row.value.partition(",")[2]) == 1
    assert row.value != "140,5"
