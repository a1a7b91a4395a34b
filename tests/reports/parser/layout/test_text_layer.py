"""Words with boxes from a text layer."""

from __future__ import annotations

from pathlib import Path

import pikepdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from reports.parser.layout.lines import group_words_into_lines
from reports.parser.layout.text_layer import (
    TooManyPages,
    read_pdf_pages,
    restore_signs_lost_in_pdf_text,
)
from reports.parser.pages import Page
from tests.reports.parser.drawing import Ink, draw


def texts(page: Page) -> list[str]:
    return [word.text for word in page.words]


def test_a_word_has_its_box_from_the_top_left_of_the_page(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", [[Ink(100, "Sodium", y=200, size=10, bold=True)]])

    (page,) = read_pdf_pages(path)

    (word,) = page.words
    assert (page.number, page.width, page.height) == (1, 595, 842)
    assert word.text == "Sodium"
    assert word.x0 == pytest.approx(100, abs=0.5)
    assert word.top < 200 < word.bottom
    assert (word.size, word.bold) == (10, True)


def test_rotated_letters_are_left_out(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [["Sodium 140 mmol/L in serum"], [Ink(100, "COPY", y=80, size=9, angle=45)]],
    )

    assert texts(read_pdf_pages(path)[0]) == ["Sodium", "140", "mmol/L", "in", "serum"]


def test_faint_letters_over_others_are_left_out(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [[(40, "Sodium 140 mmol/L"), Ink(60, "DRAFT", y=51, size=12, grey=0.85)]],
    )

    assert texts(read_pdf_pages(path)[0]) == ["Sodium", "140", "mmol/L"]


def test_faint_letters_alone_on_their_line_are_kept(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf", ["Sodium 140 mmol/L", [Ink(40, "Potassium", grey=0.85)]]
    )

    assert texts(read_pdf_pages(path)[0])[-1] == "Potassium"


def test_a_large_faint_number_by_itself_is_kept(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        ["TSH", "mIU/L", [Ink(40, "4.91", size=16, grey=0.9)]],
    )

    assert texts(read_pdf_pages(path)[0]) == ["TSH", "mIU/L", "4.91"]


def test_a_raised_exponent_is_marked(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [[Ink(40, "x10", y=50), Ink(55.5, "9", y=46, size=5.5), Ink(59, "/L", y=50)]],
    )

    assert texts(read_pdf_pages(path)[0]) == ["x10^9/L"]


@pytest.mark.parametrize("y", [47, 44.5, 43])
def test_marks_raised_high_stay_with_what_they_stand_at(tmp_path: Path, y) -> None:
    """As superscripts of some report writers, by half a line."""
    unit = [Ink(200, "1.73m", y=50), Ink(225, "2", y=y, size=6.5)]
    power = [Ink(300, "10", y=50), Ink(310, "3", y=y, size=8), Ink(314.5, "/uL", y=50)]
    note = [Ink(40, "Sodium", y=50), Ink(70, "02", y=y, size=6)]
    path = draw(tmp_path / "a.pdf", [[*note, *unit, *power]])

    words = read_pdf_pages(path)[0].words

    assert [w.text for w in words] == ["Sodium", "02", "1.73m2", "10^3/uL"]
    assert len(group_words_into_lines(words, page=1)) == 1


def test_a_page_that_is_turned_is_read_upright_and_placed_as_shown(
    tmp_path: Path,
) -> None:
    upright = draw(tmp_path / "a.pdf", [[Ink(100, "Sodium", y=200)]])
    path = tmp_path / "turned.pdf"
    with pikepdf.open(upright) as document:
        document.pages[0].rotate(180, relative=True)
        document.save(path)

    (page,) = read_pdf_pages(path)

    (word,) = page.words
    shown = page.shown(word.x0, word.middle)
    assert shown.x == pytest.approx(595 - 100, abs=1)
    assert shown.y == pytest.approx(842 - 198, abs=2)


def test_a_document_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", ["1"], ["2"], ["3"])

    with pytest.raises(TooManyPages):
        read_pdf_pages(path, at_most=2)
    assert len(read_pdf_pages(path, at_most=3)) == 3


def test_a_lost_micro_sign_is_put_back() -> None:
    assert (
        restore_signs_lost_in_pdf_text("92 \x00mol/L 3.5 \x00 5.1")
        == "92 µmol/L 3.5 - 5.1"
    )
    assert restore_signs_lost_in_pdf_text("Total\x00Protein") == "Total\x00Protein"


def test_a_page_made_of_countless_words_is_not_read(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", [[Ink(40, "a " * 300, size=2)]] * 40, lead=3)

    (page,) = read_pdf_pages(path)

    assert page.words == ()
    assert not page.legible


def test_type_of_a_size_below_zero_in_a_turned_matrix_is_upright(tmp_path):
    path = tmp_path / "upright.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    for y, cells in ((742, ("Test", "Result", "Unit")), (720, ("Sodium", "140", "g"))):
        for x, cell in zip((40, 240, 340), cells, strict=True):
            text = canvas.beginText()
            text.setFont("Helvetica", -10)
            text.setTextTransform(-1, 0, 0, -1, x, y)
            text.textOut(cell)
            canvas.drawText(text)
    canvas.save()

    (page,) = read_pdf_pages(path)

    assert page.turn == 0
    assert [word.text for word in page.words] == [
        *("Test", "Result", "Unit"),
        *("Sodium", "140", "g"),
    ]
    assert page.words[0].x0 < page.words[1].x0 < page.words[2].x0
