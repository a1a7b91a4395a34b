"""Which lines name the columns of a table of results."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reports.parser.columns.titles import read_column_titles
from reports.parser.layout.lines import Line, build_line_from_words
from reports.parser.pages import Word
from reports.parser.text.roles import Role


def line(*cells: tuple[float, str], top: float = 100) -> Line:
    words = []
    for x, text in cells:
        for part in text.split():
            words.append(Word(part, x, top, x + 5 * len(part), top + 10, 9))
            x += 5 * len(part) + 2.5
    return build_line_from_words(words, page=1)


def roles(lines: Sequence[Line]) -> list[Role]:
    return [title.role for title in read_column_titles(lines)]


@pytest.mark.parametrize(
    "titles",
    [
        ("Test Name", "Results", "Units", "Bio. Ref. Interval"),
        ("INVESTIGATION", "OBSERVED VALUE", "UNIT", "BIOLOGICAL REFERENCE RANGE"),
        ("Analyse", "Ergebnis", "Einheit", "Referenzbereich"),
        ("Prueba", "Resultado", "Unidades", "Valores de referencia"),
        ("Analyses", "Résultats", "Unités", "Valeurs de référence"),
        ("Tetkik", "Sonuç", "Birim", "Referans Aralığı"),
        ("Pemeriksaan", "Hasil", "Satuan", "Nilai Rujukan"),
    ],
)
def test_titles_are_known_in_several_languages(titles: tuple[str, ...]) -> None:
    found = roles([line(*zip((40, 200, 300, 380), titles, strict=True))])

    assert found == [Role.NAME, Role.VALUE, Role.UNIT, Role.RANGE]


def test_titles_over_two_lines_are_read_as_one() -> None:
    found = roles(
        [
            line((40, "Test"), (200, "Observed"), (300, "Units"), (380, "Reference")),
            line((40, "Description"), (200, "Value"), (380, "Interval"), top=112),
        ]
    )

    assert found == [Role.NAME, Role.VALUE, Role.UNIT, Role.RANGE]


@pytest.mark.parametrize(
    "text",
    [
        ("Category", "Reference range", "Risk"),
        ("Sodium", "140", "mmol/L"),
        ("Value (mg/dL)", "Interpretation"),
        ("138 mmol/L", "In range"),
    ],
)
def test_other_lines_name_no_columns(text: tuple[str, ...]) -> None:
    assert read_column_titles([line(*zip((40, 200, 300), text, strict=False))]) == ()


def test_the_first_column_holds_the_names_whatever_its_title() -> None:
    found = read_column_titles(
        [line((40, "What we measured"), (200, "Normal"), (300, "You"), (400, "Units"))]
    )

    assert [t.role for t in found] == [Role.NAME, Role.RANGE, Role.VALUE, Role.UNIT]


def test_a_title_in_two_languages_is_one() -> None:
    titles = line((40, "Analyse / Onderzoek"), (200, "Resultaat"), (300, "Eenheid"))

    assert roles([titles]) == [Role.NAME, Role.VALUE, Role.UNIT]


def test_names_need_no_title_where_there_is_room_for_them() -> None:
    titles = line((240, "Résultat"), (300, "Unité"), (370, "Valeurs de référence"))

    assert roles([titles]) == [Role.VALUE, Role.UNIT, Role.RANGE]


def test_a_label_with_its_text_is_no_title() -> None:
    method = line((40, "Método: Enzimático"))
    below = line((240, "Resultado"), (400, "Valores de referência"), top=112)

    assert roles([method, below]) == []


def test_a_flag_set_close_behind_the_result_is_a_column_of_its_own() -> None:
    titles = line(
        (40, "Test"), (190, "RESULT FLAG"), (260, "UNITS"), (330, "2025/03/11")
    )

    assert roles([titles])[:3] == [Role.NAME, Role.VALUE, Role.FLAG]


def test_two_results_are_told_apart_by_percent_and_unit_in_their_titles() -> None:
    titles = read_column_titles(
        [
            line(
                (40, "Differential Count"),
                (200, "Percent Values"),
                (320, "Absolute Values (10^9/L)"),
            )
        ]
    )

    assert [(t.role, t.unit) for t in titles[1:]] == [
        (Role.VALUE, "%"),
        (Role.VALUE, "10^9/L"),
    ]


def test_a_date_alone_at_the_end_of_a_header_is_no_title_of_results() -> None:
    header = line(
        (40, "Your Ref"), (112, "HC/418"), (322, "Reported"), (390, "16/09/2025 18:55")
    )
    dated = line((40, "Test"), (200, "Ref"), (322, "Reported"), (390, "16/09/2025"))

    assert roles([header]) == []
    assert Role.VALUE in roles([dated])
