"""The corpus is the same every time, and its truth stands in the files."""

from __future__ import annotations

import random

import pypdfium2

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


def missing_values(rows, path):
    """Values that do not stand in the text layer, whatever blanks it has."""
    text = text_layer(path)
    return [r.value for r in rows if "".join(r.value.split()) not in text]


# All in one test: drawing is quick, a test for each layout was not.
def test_each_layout_draws_the_same_bytes_twice_with_every_true_value(tmp_path):
    others, missing = [], {}

    for name, layout in LAYOUTS.items():
        first = draw_layout(layout, tmp_path / "first.pdf")
        second = draw_layout(layout, tmp_path / "second.pdf")
        if first.path.read_bytes() != second.path.read_bytes():
            others.append(name)
        if first.rows != second.rows:
            others.append(f"{name}: rows")
        if layout.has_text:
            missing[name] = missing_values(first.rows, first.path)

    assert others == []
    assert {name: lost for name, lost in missing.items() if lost} == {}
    assert len(missing) >= 35


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

    assert {r.is_lab_report for r in reports if len(r.required_rows) >= 4} == {True}
    assert {r.is_lab_report for r in reports if len(r.required_rows) < 4} == {False}
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


def test_with_another_seed_the_values_stand_in_the_text_layer(tmp_path):
    reports = build_corpus(tmp_path, seed=7)

    missing = {r.layout: missing_values(r.required_rows, r.path) for r in reports}
    assert {name: lost for name, lost in missing.items() if lost} == {}
    assert len(missing) >= 35


def test_a_value_thrown_anew_keeps_its_decimals():
    text = "Sodium | 140,5 | mmol/l | 136,0 - 145,0 | sodium"

    [row] = read_rows(text, dice=random.Random(3), decimal_comma=True)  # noqa: S311

    assert len(row.value.partition(",")[2]) == 1
    assert row.value != "140,5"
