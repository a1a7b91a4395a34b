"""Reports in Cyrillic and in Chinese, as words of a text layer."""

from __future__ import annotations

import pytest

from reports.parser.cyrillic import write_cyrillic_name_in_latin
from reports.parser.loinc import rank_loinc_matches
from reports.parser.pages import Page, Word
from reports.parser.parsing import parse_report_pages
from reports.parser.report import LoincMatchStatus

LEFT = (40, 200, 260, 330)
RIGHT = (400, 560, 620, 690)


def page_of(*lines):
    words = []
    for n, cells in enumerate(lines):
        for x, text in cells:
            left, top = x, 40.0 + 14 * n
            for piece in text.split():
                right = left + 4.5 * len(piece)
                words.append(Word(piece, left, top, right, top + 9, 9.0))
                left = right + 2.5
    return Page(1, 842.0, 595.0, tuple(words))


def results_of(page):
    report = parse_report_pages([page])
    return [(r.test_name, r.value, r.units, r.reference_range) for r in report.results]


def test_a_russian_report_is_read_with_its_units_and_known_names():
    rows = [
        ("Гемоглобин", "142", "г/л", "130 - 160"),
        ("Глюкоза", "5.4", "ммоль/л", "3.9 - 6.1"),
        ("Креатинин", "88", "мкмоль/л", "62 - 106"),
        ("АЛТ", "21", "Ед/л", "0 - 41"),
    ]
    titles = ("Показатель", "Результат", "Ед. изм.", "Референсные значения")
    page = page_of(
        [(40, "Лаборатория Пример")],
        *(list(zip(LEFT, cells, strict=True)) for cells in (titles, *rows)),
    )

    assert results_of(page) == rows
    codes = [r.loinc_matches[0].loinc_code for r in parse_report_pages([page]).results]
    assert codes == ["718-7", "14749-6", "14682-9", "1742-6"]


@pytest.mark.parametrize("abreast", [1, 2])
def test_a_chinese_report_of_one_or_two_tables_is_read(abreast):
    rows = [
        ("白细胞计数", "6.1", "10^9/L", "3.5-9.5"),
        ("血红蛋白", "142", "g/L", "130-175"),
        ("葡萄糖", "5.4", "mmol/L", "3.9-6.1"),
        ("肌酐", "88", "μmol/L", "57-97"),
    ]
    titles = ("检验项目", "结果", "单位", "参考区间")
    share = len(rows) // abreast
    lines = []
    for at in range(share + 1):
        cells = []
        for n, xs in enumerate((LEFT, RIGHT)[:abreast]):
            texts = rows[n * share + at - 1] if at else titles
            cells += zip(xs, texts, strict=True)
        lines.append(cells)
    page = page_of([(40, "示例医院检验报告单")], [(40, "标本: 血清")], *lines)

    assert sorted(results_of(page)) == sorted(rows)


def test_an_abbreviation_in_cyrillic_is_never_spelled_letter_by_letter():
    assert write_cyrillic_name_in_latin("ТТГ") == "tsh"
    assert write_cyrillic_name_in_latin("ЩФ") == "щф"
    found = rank_loinc_matches(
        name="ТТГ", units="мМЕ/л", value="2.1", panel=None, sample_type=None
    )
    assert found.status is not LoincMatchStatus.NO_MATCH
    assert found.matches[0].loinc_code == "3016-3"
