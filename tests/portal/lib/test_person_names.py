"""Names that are one person's, and names that are not. All people are invented."""

from __future__ import annotations

import pytest

from portal.lib.person_names import NameAgreement, PersonName, compare_person_names


def compare(printed: str, known: PersonName, **options: bool) -> NameAgreement:
    first, _, last = printed.rpartition(" ")
    return compare_person_names(PersonName(first, last), known, **options)


@pytest.mark.parametrize(
    ("printed", "first", "last"),
    [
        ("ROSA BEISPIEL", "Rosa", "Beispiel"),
        ("Beispiel Rosa", "Rosa", "Beispiel"),
        ("Dr. Rosa M. Beispiel", "Rosa", "Beispiel"),
        ("Rosa M Beispiel", "Rosa Maria", "Beispiel"),
        ("R. Beispiel", "Rosa", "Beispiel"),
        ("R M Beispiel", "Rosa", "Beispiel"),
        ("Mrs Rosa Beispiel-Vorlage", "Rosa", "Beispiel"),
        ("Rosa Beispiel", "Rosa", "Beispiel-Vorlage"),
        ("Anne-Marie Muster", "Annemarie", "Muster"),
        ("Anne Marie Muster", "Anne-Marie", "Muster"),
        ("Jurgen Muller", "Jürgen", "Müller"),
        ("Juergen Mueller", "Jürgen", "Müller"),
        ("SOREN JORGENSEN", "Søren", "Jørgensen"),
        ("Soeren Joergensen", "Søren", "Jørgensen"),
        ("Renée D'Exemple", "Renee", "Dexemple"),
        ("Sean O'Sample", "Seán", "O’Sample"),
        ("Юлия Образцова", "Yulia", "Obraztsova"),
        ("Iuliia Obraztcova", "Юлия", "Образцова"),
        ("Zhang Wei", "Wei", "Zhang"),
        ("Jan van der Voorbeeld", "Jan", "Vandervoorbeeld"),
        ("Ana María Ejemplo Modelo", "Ana María", "Ejemplo"),
        ("Bob Sample", "Robert", "Sample"),
        ("Alexander Sample", "Alex", "Sample"),
        ("Kath1een Sample", "Kathleen", "Sample"),
        ("Katheen Sample", "Kathleen", "Sample"),
        ("Rosa Beispie1", "Rosa", "Beispiel"),
        ("Beispiel", "Rosa", "Beispiel"),
        ("John Paul Sample Jr", "John", "Sample"),
        ("Mr. ANAND KUMAR", "Anand", "Kumar"),
        ("Mohammed Al Mithali", "Mohamed", "Al-Mithali"),
    ],
)  # fmt: skip
def test_one_person_is_one_however_the_name_is_written(printed, first, last) -> None:
    assert compare(printed, PersonName(first, last)) is NameAgreement.SAME


@pytest.mark.parametrize(
    ("printed", "first", "last"),
    [
        ("Otto Muster", "Rosa", "Beispiel"),
        ("Rudi Beispiel", "Rosa", "Beispiel"),
        ("Anna Beispiel", "Anne", "Beispiel"),
        ("Mario Beispiel", "Maria", "Beispiel"),
        ("Daniela Beispiel", "Daniel", "Beispiel"),
        ("Martina Beispiel", "Martin", "Beispiel"),
        ("T. Beispiel", "Rosa", "Beispiel"),
        ("John B Sample", "John Adam", "Sample"),
        ("Thomas", "Rosa", "Beispiel"),
        ("Юрий Образцов", "Yulia", "Obraztsova"),
        ("Lei Zhang", "Wei", "Zhang"),
        ("Beispiel Thomas", "Anna", "Thomas"),
        ("Pietro Beispiel", "Paolo", "Beispiel"),
        ("Salim Al Mithali", "Fatimah Al", "Mithali"),
    ],
)
def test_another_person_differs_also_in_one_family(printed, first, last) -> None:
    assert compare(printed, PersonName(first, last)) is NameAgreement.DIFFERENT


def test_a_particle_is_no_family_name() -> None:
    known = PersonName("Maricel B", "Dela Halimbawa")

    assert compare("Maricel B Dela Modelo", known) is NameAgreement.GIVEN_NAME_ONLY


def test_a_new_family_name_leaves_it_to_the_birth_date() -> None:
    known = PersonName("Rosa", "Neumann")

    assert compare("Rosa Beispiel", known) is NameAgreement.GIVEN_NAME_ONLY
    assert compare("Rosa Beispiel", known, born_alike=True) is (
        NameAgreement.GIVEN_NAME_ONLY
    )


def test_twins_are_two_people_though_born_on_one_day() -> None:
    known = PersonName("Lena", "Beispiel")

    for twin in ("Anna", "Lisa", "Jonas"):
        found = compare(f"{twin} Beispiel", known, born_alike=True)
        assert found is NameAgreement.DIFFERENT


def test_a_birth_date_that_agrees_forgives_a_name_cut_or_misread() -> None:
    known = PersonName("Daniela", "Beispiel")

    for name in ("Daniel Beispiel", "Oaniela Beispiel", "Daniella Beispie"):
        assert compare(name, known, born_alike=True) is NameAgreement.SAME


@pytest.mark.parametrize(
    "printed", ["", "XXXX XXXXX", "R. B.", "Anonymous", "王 小明", "Mr", "Patient ID"]
)
def test_a_name_that_says_nothing_decides_nothing(printed) -> None:
    assert compare(printed, PersonName("Rosa", "Beispiel")) is NameAgreement.UNKNOWN
    assert compare("Rosa Beispiel", PersonName("", "")) is NameAgreement.UNKNOWN
