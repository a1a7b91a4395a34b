from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest
from django.apps import apps

from labs.apps import _is_migrated
from labs.models import ExpectedResult, Lab, LabTest, Marker
from labs.operations.catalogue.reference_data import (
    install_reference_data,
    read_reference_labs,
    read_reference_markers,
    read_reference_results,
)
from labs.states.catalogue import (
    CollectionMethod,
    Container,
    LabTestStatus,
    MarkerType,
    QuestionType,
    ResultType,
    SampleType,
)
from tests.factories.accounts import make_tenant

SLUGS = {
    *("ayumetrix", "spiriplex", "ussl", "quest", "sonora_quest", "labcorp"),
    *("bioreference", "us_biotek", "manual", "sanocardio", "ihd", "nexus"),
    *("my_uti", "crl", "mtl"),
}


def check_digit(number: str) -> str:
    """Modulus 10, doubling every other digit from the right (LOINC Users' Guide)."""
    doubled = int("".join(reversed(number))[::2]) * 2
    rest = "".join(reversed(number))[1::2]
    digits = sum(map(int, str(doubled))) + sum(map(int, rest))
    return str(-digits % 10)


def rows() -> list[object]:
    models = (Lab, Marker, ExpectedResult)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_every_lab_of_the_contract_is_there_once():
    assert {lab.slug for lab in read_reference_labs()} == SLUGS
    assert len({lab.id for lab in read_reference_labs()}) == len(SLUGS)


def test_labs_offer_known_methods_and_samples():
    for lab in read_reference_labs():
        assert set(lab.collection_methods) <= set(CollectionMethod.values)
        assert set(lab.sample_types) <= set(SampleType.values)


def test_there_are_150_markers_with_codes_unique_in_their_lab():
    markers = read_reference_markers()

    codes = Counter((marker.lab_id, marker.provider_id) for marker in markers)
    assert len(markers) >= 150
    assert max(codes.values()) == 1
    assert len({marker.id for marker in markers}) == len(markers)


def test_markers_are_of_known_kinds_and_samples_their_lab_takes():
    labs = {lab.id: lab for lab in read_reference_labs()}

    for marker in read_reference_markers():
        assert marker.type in MarkerType.values
        assert marker.sample_type in labs[marker.lab_id].sample_types
        usual, worst = marker.common_tat_days, marker.worst_case_tat_days
        assert usual is not None
        assert worst is not None
        assert 0 < usual <= worst


def test_every_marker_gives_results_and_a_biomarker_one_in_its_own_unit():
    given = Counter(result.marker_id for result in read_reference_results())
    units = {result.marker_id: result.unit for result in read_reference_results()}

    for marker in read_reference_markers():
        if marker.type == MarkerType.PANEL:
            assert given[marker.id] >= 2
        else:
            assert given[marker.id] == 1
            assert units[marker.id] == marker.unit


def test_loinc_codes_carry_their_check_digit_and_name():
    for result in read_reference_results():
        found = re.fullmatch(r"(\d+)-(\d)", result.loinc_code)
        assert found is not None
        assert check_digit(found[1]) == found[2], result.loinc_code
        assert result.loinc_name


def test_one_code_has_one_name():
    names: dict[str, set[str]] = {}
    for result in read_reference_results():
        names.setdefault(result.loinc_code, set()).add(result.loinc_name)

    assert {len(each) for each in names.values()} == {1}


def test_numbers_have_bounds_in_order_and_codes_have_constants():
    for result in read_reference_results():
        if result.result_type == ResultType.NUMERIC:
            assert result.coded_values == []
            if result.low is not None and result.high is not None:
                assert result.low < result.high
        else:
            assert result.result_type == ResultType.CODED_VALUE
            assert len(result.coded_values) >= 2


def test_questions_have_ids_unique_in_their_marker_and_choices_where_they_choose():
    items = [marker for marker in read_reference_markers() if marker.aoe_questions]

    assert items
    for marker in items:
        ids = [question["id"] for question in marker.aoe_questions]
        assert len(set(ids)) == len(ids)
        for question in marker.aoe_questions:
            chosen = {QuestionType.CHOICE, QuestionType.MULTI_CHOICE}
            assert question["type"] in QuestionType.values
            assert bool(question["answers"]) == (question["type"] in chosen)


@pytest.mark.django_db
def test_the_database_holds_the_reference_set():
    held = set(Lab.objects.values_list("slug", flat=True))

    assert held == SLUGS
    assert Marker.objects.count() == len(read_reference_markers())
    assert ExpectedResult.objects.count() == len(read_reference_results())


@pytest.mark.django_db(transaction=True)
def test_a_flush_does_not_take_the_reference_set_away():
    assert Lab.objects.count() == len(SLUGS)


@pytest.mark.django_db
def test_a_new_team_has_the_panels_in_its_sandbox_alone(alice_tenant, alice_production):
    panels = list(
        LabTest.objects.for_tenant(alice_tenant)
        .select_related("lab")
        .prefetch_related("markers")
    )
    assert len(panels) == 31
    assert {panel.status for panel in panels} == {LabTestStatus.ACTIVE}
    assert {panel.method for panel in panels} == set(CollectionMethod.values)
    for panel in panels:
        assert panel.method in panel.lab.collection_methods
        assert {marker.lab_id for marker in panel.markers.all()} == {panel.lab_id}
    walk_in = {panel.lab.slug for panel in panels if panel.method == "walk_in_test"}
    assert {"quest", "sonora_quest", "labcorp", "bioreference"} == walk_in
    assert sum(panel.has_collection_instructions for panel in panels) == 1
    assert not LabTest.objects.for_tenant(alice_production).exists()


@pytest.mark.django_db
def test_laying_again_mends_what_differs_and_leaves_the_rest(alice_tenant):
    before = rows()
    quest = Lab.objects.get(slug="quest")
    Lab.objects.filter(pk=quest.pk).update(name="Somebody else")
    Marker.objects.filter(lab=quest).update(price=1)
    panels = LabTest.objects.for_tenant(alice_tenant)
    panels.filter(slug="quest-lipid-panel").update(name="Ours", status="inactive")
    held = list(panels.order_by("pk").values())

    install_reference_data()

    assert rows() == before
    assert list(panels.order_by("pk").values()) == held


@pytest.mark.django_db
def test_laying_gives_a_tenant_the_panels_it_lacks():
    tenant = make_tenant()
    panels = LabTest.objects.for_tenant(tenant)
    panels.filter(slug="quest-lipid-panel").delete()

    install_reference_data()

    found = panels.get(slug="quest-lipid-panel")
    assert [marker.provider_id for marker in found.markers.all()] == ["7600"]
    assert panels.count() == 31


@pytest.mark.django_db
def test_laying_asks_a_fixed_number_of_queries(django_assert_num_queries):
    make_tenant()
    make_tenant()

    with django_assert_num_queries(7):
        install_reference_data()


class Without:
    """The models of a state before the labs' tables."""

    def get_model(self, app: str, name: str) -> None:
        raise LookupError(name)


def test_nothing_is_laid_before_the_tables_are_those_of_the_code():
    assert _is_migrated(apps) is True
    assert _is_migrated(Without()) is False


def test_hemoglobin_a1c_is_drawn_into_lavender_and_every_draw_has_its_tube():
    tubes = defaultdict(set)
    for marker in read_reference_markers():
        assert (marker.sample_type == "serum") == bool(marker.container), marker
        if marker.container:
            tubes[marker.container].add(marker.name)

    assert tubes["edta"] == {
        "Complete blood count with differential",
        "Hemoglobin",
        "Hemoglobin A1c",
        "Hemoglobin A1c with estimated average glucose",
        "Platelet count",
        "Sedimentation rate",
    }
    assert Container.EDTA.label == "Lavender (EDTA), whole blood"
    assert tubes["citrate"] == {
        "Fibrinogen",
        "Partial thromboplastin time",
        "Prothrombin time with INR",
    }
    assert tubes["trace_edta"] == {"Lead, venous blood"}
    assert tubes["trace_serum"] == {"Zinc"}
    assert tubes["serum_plain"] == {"T3, reverse", "Testosterone, total"}
    assert set(tubes) == set(Container.values)
