"""The patient header in the forms that laboratories print. All people are invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.parser.assembly.header import (
    read_patient_age,
    read_patient_on_each_page,
    read_report_header,
)
from reports.parser.layout.lines import group_words_into_lines
from reports.parser.layout.text_layer import read_pdf_pages
from reports.parser.report import Metadata
from reports.parser.text.dates import parse_first_date
from tests.reports.parser.drawing import Drawn, draw, row

XS = (40, 130, 320, 410)


def header(path: Path, *lines: list[Drawn] | str) -> Metadata:
    pages = read_pdf_pages(draw(path / "a.pdf", lines))
    return read_report_header(
        [group_words_into_lines(p.words, page=p.number) for p in pages]
    )


def test_labels_and_texts_may_stand_in_columns(tmp_path: Path) -> None:
    assert header(
        tmp_path,
        "Willow Diagnostics",
        row(XS, "Patient Name", ": Ms. ROBIN SAMPLE", "Lab No", ": SMP-77120"),
        row(XS, "Age / Sex", ": 52 Yrs / F", "Collected", ": 18-Jan-2024 08:20AM"),
        row(XS, "DOB", ": 1971-06-21", "Reported", ": 19-Jan-2024 04:45PM"),
    ) == Metadata(
        patient_first_name="ROBIN",
        patient_last_name="SAMPLE",
        dob="1971-06-21",
        gender="female",
        lab_name="Willow Diagnostics",
        date_reported="2024-01-19",
        date_collected="2024-01-18",
        specimen_number="SMP-77120",
    )


def test_several_labels_may_share_a_line(tmp_path: Path) -> None:
    found = header(
        tmp_path, "PATIENT: PRETEND, Casey    DOB: 21/06/1971    SEX: M    MRN: 881"
    )

    assert (found.patient_first_name, found.patient_last_name) == ("Casey", "PRETEND")
    assert (found.dob, found.gender) == ("1971-06-21", "male")


def test_what_is_not_printed_is_none(tmp_path: Path) -> None:
    assert header(tmp_path, "Some text") == Metadata()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-02-03", "2024-02-03"),
        ("18-Jan-2024 08:20AM", "2024-01-18"),
        ("21/Aug/2024", "2024-08-21"),
        ("July 8, 1990", "1990-07-08"),
        ("8 July 1990", "1990-07-08"),
        ("21/06/1971", "1971-06-21"),
        ("11/30/1968", "1968-11-30"),
        ("21.06.71", "1971-06-21"),
        ("03.04.2022", "2022-04-03"),
        ("03/04/2022", None),
        ("99/99/2022", None),
        ("soon", None),
    ],
)
def test_a_date_is_read_unless_its_order_is_in_doubt(
    text: str, day: str | None
) -> None:
    assert parse_first_date(text) == day


def test_another_date_of_the_report_settles_the_order(tmp_path: Path) -> None:
    found = header(tmp_path, "DOB: 11/30/1968", "Collected: 02/06/2023 08:10")

    assert (found.dob, found.date_collected) == ("1968-11-30", "2023-02-06")


HEADERS = {
    "de": (
        (
            "MVZ Labor Muster",
            row(XS, "Name", "Mustermann", "Vorname", "Max"),
            row(XS, "Geb.-Datum", "01.02.1970", "Geschlecht", "m"),
            row(XS, "Tagesnummer", "44120", "Abnahmedatum", "04.03.2024"),
            row(XS, "Befund vom", "06.03.2024", "", ""),
        ),
        ("Max", "Mustermann", "1970-02-01", "male", "MVZ Labor Muster"),
        ("2024-03-06", "2024-03-04", "44120"),
    ),
    "fr": (
        (
            "Laboratoire d'exemple",
            "Madame EXEMPLE Marie née le 12/08/1964",
            row(XS, "Prélevé le :", "01/02/2024 à 08h10", "Sexe :", "F"),
            row(XS, "Edité le :", "2 février 2024", "N° dossier :", "FR-8891"),
        ),
        ("Marie", "EXEMPLE", "1964-08-12", "female", "Laboratoire d'exemple"),
        ("2024-02-02", "2024-02-01", "FR-8891"),
    ),
    "es": (
        (
            "Laboratorio Ejemplo S.A.",
            row(XS, "Paciente:", "Ana María Ejemplo", "F. Nacimiento:", "03/05/1980"),
            row(XS, "Sexo:", "Mujer", "Edad:", "43 años"),
            row(XS, "Toma de muestra:", "4 de febrero de 2024", "Nº Petición:", "P-22"),
            row(XS, "Fecha de informe:", "05/02/2024", "", ""),
        ),
        ("Ana María", "Ejemplo", "1980-05-03", "female", "Laboratorio Ejemplo S.A."),
        ("2024-02-05", "2024-02-04", "P-22"),
    ),
    "pt": (
        (
            "Laboratório Exemplo",
            row(XS, "Nome:", "João Exemplo", "Nasc.:", "03/07/1985"),
            row(XS, "Sexo:", "Masculino", "Coletado em:", "04/01/2024"),
            row(XS, "Emitido em:", "05/01/2024", "Protocolo:", "998877"),
        ),
        ("João", "Exemplo", "1985-07-03", "male", "Laboratório Exemplo"),
        ("2024-01-05", "2024-01-04", "998877"),
    ),
    "it": (
        (
            "Laboratorio Analisi Esempio",
            row(XS, "Cognome e Nome", "BIANCHI ESEMPIA", "Nato il", "03/11/1959"),
            row(XS, "Sesso", "F", "Prelievo del", "04/01/2024"),
            row(XS, "Refertato il", "05/gen/2024", "N. accettazione", "IT-4471"),
        ),
        ("ESEMPIA", "BIANCHI", "1959-11-03", "female", "Laboratorio Analisi Esempio"),
        ("2024-01-05", "2024-01-04", "IT-4471"),
    ),
    "en": (
        (
            "Willow Pathology",
            row(XS, "Patient:", "MRS T EXAMPLE", "Requisition:", "ZA-99120"),
            row(XS, "DoB / Age:", "1980-02-14 (44)", "Sex:", "F"),
            row(XS, "Taken:", "2024-02-14", "Reported:", "2024-02-15"),
        ),
        ("T", "EXAMPLE", "1980-02-14", "female", "Willow Pathology"),
        ("2024-02-15", "2024-02-14", "ZA-99120"),
    ),
}


@pytest.mark.parametrize(
    ("labels", "sex"),
    [
        ("Nombre: Ana Prueba   Sexo: M   Edad: 44", None),
        ("Nombre: Ana Prueba   Sexo: H   Edad: 44", "male"),
        ("Paciente: Ana Teste   Sexo: M   Idade: 44 anos", "male"),
    ],
)
def test_a_lone_m_is_no_sex_in_spanish(
    labels: str, sex: str | None, tmp_path: Path
) -> None:
    assert header(tmp_path, labels).gender == sex


@pytest.mark.parametrize("language", HEADERS)
def test_a_header_is_read_in_its_language(language: str, tmp_path: Path) -> None:
    lines, (first, last, dob, sex, lab), (reported, collected, number) = HEADERS[
        language
    ]

    assert header(tmp_path, *lines) == Metadata(
        patient_first_name=first,
        patient_last_name=last,
        dob=dob,
        gender=sex,
        lab_name=lab,
        date_reported=reported,
        date_collected=collected,
        specimen_number=number,
    )


@pytest.mark.parametrize(
    ("lines", "years"),
    [
        (("DOB: 30-Jun-1980  Sex: F", "Collected: 30-Jun-2024"), 44.0),
        (("Age / Sex : 52 Yrs / F",), 52.0),
        (("Edad: 43 años",), 43.0),
        (("Name: Robin Sample (45Y/M)",), 45.0),
        (("Age: 7",), 7.0),
        (("Sex: F",), None),
    ],
)
def test_the_age_is_that_at_the_collection(
    lines: tuple[str, ...], years: float | None, tmp_path: Path
) -> None:
    pages = read_pdf_pages(draw(tmp_path / "a.pdf", lines))
    read = [group_words_into_lines(p.words, page=p.number) for p in pages]

    age = read_patient_age(read, read_report_header(read))

    assert (age and round(age, 1)) == years


def test_a_range_is_no_date_and_settles_no_order(tmp_path: Path) -> None:
    found = header(
        tmp_path, "DOB: 04/12/1979", "Collected: 09/16/2024", "Hct 34.6 35.0-45.0"
    )

    assert found.dob == "1979-04-12"


def test_each_later_page_has_its_own_header(tmp_path: Path) -> None:
    pages = read_pdf_pages(
        draw(
            tmp_path / "a.pdf",
            ["Patient: Robin Sample", "DOB: 1971-06-21"],
            ["Sodium 140"],
            ["Patient: Casey Pretend", "DOB: 1990-01-02"],
        )
    )

    headers = read_patient_on_each_page(
        {p.number: group_words_into_lines(p.words, page=p.number) for p in pages}
    )

    assert headers == {
        3: Metadata("Casey", "Pretend", "1990-01-02"),
    }


@pytest.mark.parametrize(
    ("lines", "who"),
    [
        (
            ["Mme MODÈLE Capucine", "Née le 09/06/1972 (53 ans)"],
            ("Capucine", "MODÈLE", "1972-06-09"),
        ),
        (
            ["Elias Mockford MRN: 00482915 DOB: 3/25/1957 Legal sex: Male"],
            ("Elias", "Mockford", "1957-03-25"),
        ),
        (
            ["Patient: Vorlage, Annegret, geb. 17.02.1966"],
            ("Annegret", "Vorlage", "1966-02-17"),
        ),
        (
            ["Tamsin Madeup · DOB 4 May 1990 · Female"],
            ("Tamsin", "Madeup", "1990-05-04"),
        ),
        (["Patient Name DOB Sex", "Prescriber MRN"], (None, None, None)),
    ],
    ids=["address", "number", "within", "dots", "titles"],
)
def test_a_person_is_told_without_labels(tmp_path: Path, lines, who) -> None:
    found = header(tmp_path, *lines)

    assert (found.patient_first_name, found.patient_last_name, found.dob) == who


def test_a_day_may_follow_its_label_without_a_sign(tmp_path: Path) -> None:
    found = header(
        tmp_path,
        "Lab Results",
        "Sample Polyclinic",
        "Kit BV-09417 · Sample taken 12 Oct 2025 08:10 · Reported 14 Oct 2025",
    )

    assert found == Metadata(
        lab_name="Sample Polyclinic",
        date_collected="2025-10-12",
        date_reported="2025-10-14",
    )


_ROSA = ("Rosa", "Beispiel", "1980-04-15", "SP-10023")


@pytest.mark.parametrize(
    "lines",
    [
        [
            "Patient Name: Rosa Beispiel",
            "Date of Birth: 04/15/1980",
            "Specimen ID: SP-10023",
        ],
        [
            row(XS, "Patient", "", "Specimen", ""),
            row(XS, "Name", "Rosa Beispiel", "Sample ID", "SP-10023"),
            row(XS, "DOB", "15 Apr 1980", "Collected", "2 Mar 2026, 08:30 CST"),
        ],
        [
            row((40, 200, 380), "Patient", "Date of Birth", "Specimen ID"),
            row((40, 200, 380), "Beispiel, Rosa", "15/04/1980", "SP-10023"),
        ],
        [
            row((40, 200, 380), "Patient Name", "Patient ID", "Order Number"),
            row((40, 200, 380), "BEISPIEL, ROSA", "SA00441188", "Z918842003"),
            row((40, 200), "DOB", "Specimen ID"),
            row((40, 200), "15 Apr 1980", "SP-10023"),
        ],
        [
            row((40, 200, 380), "Patient Name", "Birth Date:", "Specimen No.:"),
            row((40, 200, 380), "Rosa Beispiel", "04/15/1980", "SP-10023"),
        ],
        [
            row((40, 300), "Patient Details", "Specimen Details"),
            row((40, 300), "Beispiel, Rosa", "Specimen ID: SP-10023"),
            row((40, 300), "DOB: 04/15/1980", "Control ID: C22"),
        ],
        ["Name: Rosa Beispiel   DOB: 1980-04-15", "Specimen No. SP-10023"],
        [
            "Patient Information",
            "Name: Beispiel, Rosa",
            "Birth Date: Apr 15, 1980",
            "Accession Number: SP-10023",
        ],
    ],
    ids=[
        "long",
        "blocks",
        "row",
        "row of numbers",
        "row of colons",
        "titles",
        "no sign",
        "title",
    ],
)
def test_person_and_specimen_are_read_in_every_usual_form(
    tmp_path: Path, lines: list[list[Drawn] | str]
) -> None:
    found = header(tmp_path, *lines)

    first, last = found.patient_first_name or "", found.patient_last_name or ""
    person = (first.title(), last.title(), found.dob, found.specimen_number)
    assert person == _ROSA


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("TRMWKYOWKQUD", "TRMWKYOWKQUD"),
        ("TRMWKYOWKQUD   Collected: 03/02/2026", "TRMWKYOWKQUD"),
        ("Trmwkyowkqud", None),
        ("CAPILLARY", None),
        ("PLASMA", None),
        ("WHOLE BLOOD", None),
        ("TRMWKYOWKQUD BEISPIEL", None),
        ("LABORATORY", None),
    ],
)
def test_a_specimen_number_may_have_letters_alone(
    tmp_path: Path, text: str, number: str | None
) -> None:
    assert header(tmp_path, f"Specimen ID: {text}").specimen_number == number


def test_a_birth_date_in_doubt_has_both_readings(tmp_path: Path) -> None:
    found = header(tmp_path, "Patient: Rosa Beispiel", "Date of Birth: 04/03/1980")

    assert (found.dob, found.possible_dobs) == (None, ("1980-03-04", "1980-04-03"))
