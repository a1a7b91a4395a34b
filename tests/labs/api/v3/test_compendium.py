"""Search and conversion of the compendium over the API (contract 10)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from labs.models import ExpectedResult
from tests.contract.document import check_answer
from tests.factories.labs import make_lab, make_lab_test, make_marker
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db
CONVERT = "/v3/compendium/convert"
SEARCH = "/v3/compendium/search"
ORDERABLE = "/v3/compendium/search_orderable_tests"
IN_SERUM = "in Serum or Plasma"
# What a result measures, by its code.
LOINC = {
    "2345-7": f"Glucose [Mass/volume] {IN_SERUM}",
    "14749-6": f"Glucose [Moles/volume] {IN_SERUM}",
    "2160-0": f"Creatinine [Mass/volume] {IN_SERUM}",
    "3094-0": f"Urea nitrogen [Mass/volume] {IN_SERUM}",
    "1988-5": f"C reactive protein [Mass/volume] {IN_SERUM}",
    "30522-7": f"C reactive protein [Mass/volume] {IN_SERUM} by High sensitivity",
    "13457-7": f"Cholesterol in LDL [Mass/volume] {IN_SERUM} by calculation",
    "18262-6": f"Cholesterol in LDL [Mass/volume] {IN_SERUM} by Direct assay",
    "2350-7": "Glucose [Mass/volume] in Urine",
}


@pytest.fixture
def source(alice_tenant):
    return make_lab("source_lab", tenant=alice_tenant)


@pytest.fixture
def target(alice_tenant):
    return make_lab("target_lab", tenant=alice_tenant)


def make_test(lab, name, code, *loincs, **fields):
    """A test with a result for each LOINC code; one with a star is not required."""
    marker = make_marker(
        **{"lab": lab, "name": name, "provider_id": code, "container": "serum_gel"}
        | fields
    )
    for number, loinc in enumerate(loincs):
        plain = loinc.strip("*")
        ExpectedResult.objects.create(
            id=marker.pk * 100 + number,
            marker=marker,
            name=LOINC.get(plain, plain),
            slug="result",
            provider_id=f"{code}-{number}",
            loinc_code=plain if plain in LOINC else "",
            loinc_name=LOINC.get(plain, ""),
            required="*" not in loinc,
            result_type="numeric",
        )
    return marker


def convert(client, **body) -> dict[str, Any]:
    answer = client.post(CONVERT, {"target_lab": "target_lab", **body})
    assert answer.status_code == 200, answer.content
    check_answer(answer, "post", CONVERT)
    found: dict[str, Any] = answer.json()
    return found


def lines(found, code):
    """Each candidate for a code: its own code, relation, confidence and reasons."""
    candidates = found["by_source_provider_id"][code]["candidates"]
    return [
        (
            one["provider_id"],
            one["relation"],
            one["confidence"],
            one["reason_codes"],
        )
        for one in candidates
    ]


def test_the_same_results_convert_and_what_changes_is_told(
    source, target, alice_api, alice_tenant
):
    glucose = make_test(source, "Glucose", "S1", "2345-7")
    panel = make_lab_test(tenant=alice_tenant, lab=source, markers=(glucose,))
    make_test(
        target,
        "Glucose, plasma",
        "T1",
        "2345-7",
        container="trace_serum",
        fasting=True,
        price=Decimal("99.00"),
    )

    found = convert(alice_api, lab_test_id=str(panel.pk))

    assert found["source_lab_test_id"] == str(panel.pk)
    assert (found["source_lab_id"], found["target_lab_id"]) == (source.pk, target.pk)
    assert found["source_provider_ids"] == ["S1"]
    assert found["converted_provider_ids"] == ["T1"]
    assert found["unresolved_provider_ids"] == []
    assert lines(found, "S1") == [
        (
            "T1",
            "exact",
            0.99,
            ["tube_differs", "fasting_differs", "price_differs"],
        )
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "line"),
    [
        (
            ["2345-7"],
            ["14749-6"],
            ("T", "equivalent", 0.9, ["method_or_unit_differs"]),
        ),
        (
            ["13457-7"],
            ["18262-6"],
            ("T", "equivalent", 0.7, ["method_or_unit_differs"]),
        ),
        (
            ["2345-7", "2160-0", "3094-0"],
            ["2345-7"],
            ("T", "narrower", 0.267, ["lacks_results"]),
        ),
        (
            ["2345-7"],
            ["2345-7", "2160-0", "3094-0"],
            ("T", "broader", 0.7, ["adds_results"]),
        ),
        (
            ["2345-7"],
            ["2345-7", "2160-0*"],
            ("T", "exact", 0.99, []),
        ),
        (
            ["2345-7", "2160-0"],
            ["2345-7", "3094-0"],
            ("T", "overlapping", 0.2, ["adds_results", "lacks_results"]),
        ),
        (
            ["2345-7", "local"],
            ["2345-7"],
            ("T", "exact", 0.6, ["results_without_loinc"]),
        ),
        (["local"], ["local"], ("T", "same_name", 0.6, ["results_without_loinc"])),
    ],
)
def test_relation_and_confidence_follow_the_codes(
    source, target, alice_api, mine, theirs, line
):
    make_test(source, "One test", "S", *mine)
    make_test(target, "One test", "T", *theirs)

    found = convert(alice_api, provider_ids=["S"])

    assert lines(found, "S") == [line]
    is_certain = line[2] >= 0.8
    assert found["converted_provider_ids"] == (["T"] if is_certain else [])
    assert found["unresolved_provider_ids"] == ([] if is_certain else ["S"])


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("1988-5", "30522-7"), ("2345-7", "2350-7"), ("2345-7", "2160-0")],
    ids=["high sensitivity", "urine", "another analyte"],
)
def test_what_answers_another_question_is_no_counterpart(
    source, target, alice_api, mine, theirs
):
    make_test(source, "Mine", "S", mine)
    make_test(target, "Theirs", "T", theirs)

    found = convert(alice_api, provider_ids=["S"])

    assert lines(found, "S") == []
    assert found["unresolved_provider_ids"] == ["S"]


def test_a_test_becomes_several_that_report_all_of_its_results(
    source, target, alice_api
):
    make_test(source, "Kidney", "S", "2345-7", "2160-0", "3094-0")
    make_test(target, "Glucose", "T1", "2345-7")
    make_test(target, "Kidney two", "T2", "2160-0", "3094-0")
    make_test(target, "Creatinine", "T3", "2160-0")

    found = convert(alice_api, provider_ids=["S"])

    assert sorted(found["converted_provider_ids"]) == ["T1", "T2"]
    assert found["unresolved_provider_ids"] == []


def test_of_two_tests_with_the_same_codes_the_one_of_the_name_is_chosen(
    source, target, alice_api
):
    make_test(source, "Glucose, fasting", "S", "2345-7")
    make_test(target, "Sugar", "T1", "2345-7", price=Decimal("1.00"))
    make_test(target, "Fasting glucose", "T2", "2345-7", price=Decimal("9.00"))

    found = convert(alice_api, provider_ids=["S"])

    assert found["converted_provider_ids"] == ["T2"]
    assert [line[0] for line in lines(found, "S")] == ["T2", "T1"]


def test_several_that_leave_a_result_out_are_not_chosen(source, target, alice_api):
    make_test(source, "Kidney", "S", "2345-7", "2160-0", "3094-0")
    make_test(target, "Glucose", "T1", "2345-7")
    make_test(target, "Creatinine", "T2", "2160-0")

    found = convert(alice_api, provider_ids=["S"])

    assert found["converted_provider_ids"] == []
    assert [line[:2] for line in lines(found, "S")] == [
        ("T1", "narrower"),
        ("T2", "narrower"),
    ]


def test_retired_and_unorderable_tests_stand_for_nothing(
    source, target, alice_api, alice_tenant
):
    from django.utils import timezone

    make_test(source, "Glucose", "S", "2345-7")
    make_test(target, "Old", "T1", "2345-7", retired_at=timezone.now())
    make_test(target, "Closed", "T2", "2345-7", is_orderable=False)

    assert lines(convert(alice_api, provider_ids=["S"]), "S") == []


def test_an_own_lab_of_another_team_is_not_searched(
    source, alice_api, charlie_tenant, alice_tenant
):
    theirs = make_lab("target_lab", tenant=charlie_tenant, owner=charlie_tenant)
    make_test(theirs, "Glucose of theirs", "T", "2345-7")
    make_test(source, "Glucose", "S", "2345-7")
    before = holdings(alice_tenant)

    refused = alice_api.post(
        CONVERT, {"target_lab": "target_lab", "provider_ids": ["S"]}
    )
    searched = alice_api.post(
        SEARCH, {"mode": "canonical", "query": "Glucose of theirs"}
    )

    assert refused.status_code == 404
    assert "of theirs" not in searched.content.decode()
    assert holdings(alice_tenant) == before


def test_a_panel_of_another_team_is_not_found(
    source, target, alice_api, charlie_tenant
):
    theirs = make_lab_test(tenant=charlie_tenant)

    answer = alice_api.post(
        CONVERT, {"target_lab": "target_lab", "lab_test_id": str(theirs.pk)}
    )

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        (CONVERT, {"target_lab": "target_lab"}, ["body", "lab_test_id"]),
        (
            CONVERT,
            {
                "target_lab": "target_lab",
                "provider_ids": ["S"],
                "lab_test_id": "00000000-0000-4000-8000-000000000000",
            },
            ["body", "lab_test_id"],
        ),
        (CONVERT, {"provider_ids": ["S"]}, ["body", "target_lab"]),
        (SEARCH, {"mode": "canonical"}, ["body", "query"]),
        (SEARCH, {"mode": "canonical", "cpt_codes": ["1"]}, ["body", "cpt_codes"]),
        (SEARCH, {"mode": "else", "query": "a"}, ["body", "mode"]),
        (ORDERABLE, {"target_lab": "target_lab", "provider_ids": []}, None),
    ],
)
def test_wrong_bodies_are_named(alice_api, target, path, body, place):
    answer = alice_api.post(path, body)

    assert answer.status_code == 422
    if place:
        assert answer.json()["detail"][0]["loc"] == place


def search(client, **body) -> dict[str, Any]:
    answer = client.post(SEARCH, body)
    assert answer.status_code == 200, answer.content
    check_answer(answer, "post", SEARCH)
    found: dict[str, Any] = answer.json()
    return found


def test_a_search_finds_sets_by_name_code_and_loinc_and_crosses_to_labs(
    source, target, alice_api
):
    make_test(source, "Sugar in blood", "S", "2345-7", "2160-0")
    make_test(target, "Sugar in blood", "T", "2345-7", "2160-0")
    make_test(target, "Sugar and more", "M", "2345-7", "2160-0", "3094-0")
    labs = ["source_lab", "target_lab"]

    by_name = search(alice_api, mode="canonical", query="sugar in blood", labs=labs)
    by_code = search(alice_api, mode="canonical", query="S", labs=labs)
    crossed = search(
        alice_api,
        mode="crosswalk",
        loinc_set_hash=by_name["selected_canonical"]["loinc_set_hash"],
        labs=labs,
        include_related=True,
    )

    selected = by_name["selected_canonical"]
    assert selected == by_code["selected_canonical"]
    assert selected["loinc_codes"] == ["2160-0", "2345-7"]
    assert selected["provider_ids"] == ["S", "T"]
    assert (selected["display_name"], selected["confidence"]) == ("Sugar in blood", 1.0)
    assert (by_name["per_lab"], by_name["related"]) == ({}, [])
    assert {
        slug: [(one["provider_id"], one["relation"]) for one in each]
        for slug, each in crossed["per_lab"].items()
    } == {
        "source_lab": [("S", "exact")],
        "target_lab": [("T", "exact"), ("M", "broader")],
    }
    (related,) = crossed["related"]
    assert (related["canonical"]["display_name"], related["relation"]) == (
        "Sugar and more",
        "broader",
    )


def test_orderable_tests_are_found_by_codes_of_other_labs(source, target, alice_api):
    make_test(source, "Glucose", "S", "2345-7")
    make_test(target, "Glucose", "T", "2345-7")

    answer = alice_api.post(
        ORDERABLE, {"provider_ids": ["S", "nothing"], "target_lab": "target_lab"}
    )

    check_answer(answer, "post", ORDERABLE)
    found = answer.json()["candidates"]
    assert [one["provider_id"] for one in found["S"]] == ["T"]
    assert found["nothing"] == []


def test_popularity_is_the_share_of_the_teams_own_panels(
    source, target, alice_api, alice_tenant, charlie_tenant
):
    from labs.models import LabTest

    LabTest.objects.for_tenant(alice_tenant).delete()
    make_test(source, "Glucose", "S", "2345-7")
    theirs = make_test(target, "Glucose", "T", "2345-7")
    make_lab_test(tenant=alice_tenant, lab=target, markers=(theirs,))
    make_lab_test(tenant=alice_tenant)
    make_lab_test(tenant=charlie_tenant, lab=target, markers=(theirs,))

    found = convert(alice_api, provider_ids=["S"])

    (candidate,) = found["by_source_provider_id"]["S"]["candidates"]
    assert candidate["marker_popularity_score"] == 0.5
