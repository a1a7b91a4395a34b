"""Lines drawn as blocks of ink, and the words they are parted into."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2", reason="pictures need the OCR group")

from reports.parser.pictures.engine import LINE_HEIGHT, Reading, Sign
from reports.parser.pictures.words import (
    find_monospace_pitch,
    measure_isolated_signs,
    measure_line_signs,
    split_line_into_words,
)

EM = 36
TALL, FOOT = round(0.72 * EM), 38


def draw_line(*marks, width=400, colour=(0, 0, 0)):
    """White paper with a block for each (left, right) or (left, right, top, foot)."""
    line = np.full((LINE_HEIGHT, width, 3), 255, np.uint8)
    for left, right, *rows in marks:
        top, foot = rows or (FOOT - TALL, FOOT)
        line[top:foot, left:right] = colour
    return line


def read(line, *signs, sure=0.99):
    """What the engine would say: signs at the middle of blocks, in pixels."""
    width = line.shape[1]
    return Reading(tuple(Sign(text, x / width, sure) for text, x in signs), sure)


def words(line, reading, *, em=EM, pitch=0):
    measured = measure_line_signs(reading, line)
    return split_line_into_words(measured, em=em, pitch=pitch)


def test_a_wide_gap_parts_words_without_a_blank_in_the_text():
    line = draw_line((10, 25), (29, 44), (120, 135))

    found = words(line, read(line, ("A", 17), ("B", 36), ("H", 127)))

    assert [piece.text for piece in found] == ["AB", "H"]


def test_a_word_has_the_box_of_its_ink_and_the_paper_beside_it():
    line = draw_line((10, 25), (29, 44))

    (piece,) = words(line, read(line, ("A", 17), ("B", 36)))

    assert piece.x0 == pytest.approx(10, abs=1)
    assert piece.x1 == pytest.approx(44, abs=2.5)
    assert (piece.top, piece.bottom) == pytest.approx(
        (FOOT - 0.9 * EM, FOOT + 0.22 * EM)
    )


def test_a_blank_in_the_text_parts_words_that_stand_close():
    line = draw_line((10, 25), (34, 49))

    found = words(line, read(line, ("A", 17), (" ", 29), ("B", 41)))

    assert [piece.text for piece in found] == ["A", "B"]


def test_a_blank_that_no_paper_shows_does_not_part_a_word():
    line = draw_line((10, 25), (27, 42))

    found = words(line, read(line, ("A", 17), (" ", 26), ("B", 34)))

    assert [piece.text for piece in found] == ["AB"]


def test_a_point_far_from_its_digits_stays_in_the_number():
    line = draw_line((10, 25), (38, 42, FOOT - 4, FOOT), (55, 70))

    found = words(line, read(line, ("4", 17), (".", 40), ("2", 62)))

    assert [piece.text for piece in found] == ["4.2"]


def test_a_dash_with_paper_around_it_stands_alone():
    dash = (35, 46, FOOT - 12, FOOT - 8)
    line = draw_line((10, 25), dash, (56, 71))

    found = words(line, read(line, ("2", 17), ("-", 40), ("3", 63)))

    assert [piece.text for piece in found] == ["2", "-", "3"]


def test_a_pen_through_digits_does_not_make_the_last_one_a_footnote():
    crossed = (10, 46, FOOT - TALL, LINE_HEIGHT)
    line = draw_line(crossed, (48, 64))

    measured = measure_line_signs(read(line, ("2", 17), ("4", 36), ("3", 56)), line)

    assert measured.em > 1.3 * EM
    (piece,) = split_line_into_words(measure_isolated_signs(measured), em=EM)
    assert piece.text == "243"


def test_feet_of_the_line_above_neither_size_a_line_nor_close_its_gaps():
    feet = [(left, left + 30, 0, 6) for left in range(0, 180, 40)]
    line = draw_line((10, 25), (29, 44), (56, 71), *feet)

    measured = measure_line_signs(
        read(line, ("A", 17), ("B", 36), (" ", 50), ("H", 63)), line
    )

    assert measured.em == pytest.approx(EM, abs=1)
    assert [piece.text for piece in split_line_into_words(measured, em=EM)] == [
        "AB",
        "H",
    ]


def test_raised_digits_after_ten_are_an_exponent():
    line = draw_line((10, 25), (29, 44), (47, 56, 6, 20))

    found = words(line, read(line, ("1", 17), ("0", 36), ("9", 51)))

    assert [piece.text for piece in found] == ["10^9"]


def test_a_raised_digit_after_letters_is_a_small_word_of_its_own():
    line = draw_line((10, 25), (29, 44), (47, 56, 6, 20))

    name, mark = words(line, read(line, ("K", 17), ("B", 36), ("2", 51)))

    assert (name.text, mark.text) == ("KB", "2")
    assert mark.em < 0.6 * name.em


def test_letters_that_a_leaning_line_lifts_stay_in_their_word():
    line = draw_line((10, 25), (29, 44), (47, 56, 6, 20))

    found = words(line, read(line, ("K", 17), ("B", 36), ("r", 51)))

    assert [piece.text for piece in found] == ["KBr"]


def test_red_ink_makes_a_red_word():
    line = draw_line((10, 25), (29, 44), colour=(30, 30, 220))

    (piece,) = words(line, read(line, ("7", 17), ("2", 36)))

    assert piece.red


def test_a_rule_under_the_line_is_no_ink():
    line = draw_line((10, 25), (120, 135), (0, 400, 44, 46))

    found = words(line, read(line, ("A", 17), ("B", 127)))

    assert [piece.text for piece in found] == ["A", "B"]


def test_a_dot_between_digits_that_was_not_read_makes_the_number_doubtful():
    line = draw_line((10, 25), (30, 34, FOOT - 4, FOOT), (39, 54))

    (lost,) = words(line, read(line, ("5", 17), ("0", 46)))
    (kept,) = words(line, read(line, ("5", 17), (".", 32), ("0", 46)))

    assert (lost.text, lost.sure) == ("50", 0.3)
    assert (kept.text, kept.sure) == ("5.0", 0.99)


def test_a_word_is_as_sure_as_its_least_sure_sign():
    line = draw_line((10, 25), (29, 44))
    reading = Reading((Sign("A", 17 / 400, 0.9), Sign("B", 36 / 400, 0.6)), 0.75)

    (piece,) = words(line, reading)

    assert piece.sure == 0.6


def test_evenly_spaced_signs_are_of_a_typewriter_and_keep_their_brackets():
    pitch = 22
    thin = [(8 + pitch * n, 12 + pitch * n) for n in range(8)]
    text = "[1I1l1I]"
    line = draw_line(*thin)
    reading = read(line, *((s, 10 + pitch * n) for n, s in enumerate(text)))
    measured = measure_line_signs(reading, line)
    assert measured is not None

    found = find_monospace_pitch([measured] * 3)
    (piece,) = split_line_into_words(measured, em=EM, pitch=pitch / EM)

    assert found == pytest.approx(pitch / measured.em, rel=0.05)
    assert piece.text == text


def test_narrow_signs_of_a_typewriter_take_a_step_each():
    pitch = 22
    line = draw_line((8, 12), (30, 34), (200, 204))
    signs = (("1", 10), ("1", 32), ("1", 202))

    found = words(line, read(line, *signs), pitch=pitch / EM)

    assert [piece.text for piece in found] == ["11", "1"]
    assert found[0].x0 == pytest.approx(10 - 0.4 * pitch, abs=0.5)
    assert found[0].x1 == pytest.approx(32 + 0.4 * pitch, abs=0.5)
    assert found[0].em == pytest.approx(pitch / 0.6)


def test_white_paper_has_no_words():
    line = draw_line()

    assert measure_line_signs(read(line, ("A", 17)), line) is None


def test_ink_not_read_between_a_stroke_and_a_litre_is_a_micro_sign():
    line = draw_line((10, 30), (33, 44), (46, 64), (68, 84))

    (piece,) = words(line, read(line, ("K", 20), ("/", 38), ("L", 76)))

    assert piece.text == "K/µL"


def test_no_sign_is_added_where_there_is_no_ink_for_it():
    near = draw_line((10, 30), (33, 44), (47, 63))
    wide = draw_line((10, 30), (33, 44), (64, 80))

    for line, at in ((near, 55), (wide, 72)):
        found = words(line, read(line, ("g", 20), ("/", 38), ("L", at)))
        assert "".join(piece.text for piece in found) == "g/L"
