from __future__ import annotations

import pytest

from labs.models import CatalogueUpdate, ExpectedResult, MarkerVersion
from labs.operations.catalogue.loinc_proposals import (
    confirm_loinc_codes,
    list_results_without_loinc,
    propose_loinc_of_result,
)
from portal.lib.errors import DomainError, NotFound
from tests.factories.accounts import ACTOR
from tests.labs.operations.catalogue.conftest import update

pytestmark = pytest.mark.django_db

HDL = "2085-9"


@pytest.fixture
def hdl(alice_tenant):
    """A result without a code, of a lab of the team's own."""
    update(owner=alice_tenant)
    return ExpectedResult.objects.get(marker__lab__owner=alice_tenant, name="HDL")


def test_the_readers_matcher_proposes_and_nothing_counts_before_it_is_confirmed(
    hdl, alice_tenant
):
    (listed,) = list_results_without_loinc(owner=alice_tenant)

    found = propose_loinc_of_result(listed)

    assert listed == hdl
    best = found.proposals[0]
    assert (best.code, best.confidence > 0.8) == (HDL, True)
    assert ExpectedResult.objects.get(pk=hdl.pk).loinc_code == ""


def test_a_confirmed_code_is_an_update_with_a_version_of_its_marker(hdl, alice_tenant):
    done = confirm_loinc_codes(owner=alice_tenant, actor=ACTOR, codes={hdl.pk: HDL})

    hdl.refresh_from_db()
    assert (hdl.loinc_code, hdl.loinc_name) == (
        HDL,
        "Cholesterol in HDL [Mass/volume] in Serum or Plasma",
    )
    assert (done.number, done.owner, done.created_by) == (2, alice_tenant, ACTOR.label)
    assert done.changes == [
        {
            "kind": "changed",
            "table": "expected_results",
            "key": "north L1 HDL",
            "name": "HDL",
            "fields": [
                ["loinc_code", "", HDL],
                ["loinc_name", "", hdl.loinc_name],
            ],
        }
    ]
    (version,) = MarkerVersion.objects.filter(marker=hdl.marker)
    assert version.results[0]["loinc_code"] == ""
    assert list(list_results_without_loinc(owner=alice_tenant)) == []


def test_a_typed_code_has_no_name(hdl, alice_tenant):
    confirm_loinc_codes(owner=alice_tenant, actor=ACTOR, codes={hdl.pk: "2345-7"})

    hdl.refresh_from_db()
    assert (hdl.loinc_code, hdl.loinc_name) == ("2345-7", "")


@pytest.mark.parametrize(
    ("change", "code", "error"),
    [
        (0, "2085-8", "loinc_code_invalid"),
        (0, "'; --", "loinc_code_invalid"),
        (10**9, HDL, "result_not_found"),
        (None, "", "no_loinc_codes"),
    ],
)
def test_a_wrong_code_or_result_changes_nothing(hdl, alice_tenant, change, code, error):
    codes = {} if change is None else {hdl.pk + change: code, hdl.pk: HDL}
    codes.update({} if change is None else {hdl.pk + change: code})

    with pytest.raises(DomainError) as refused:
        confirm_loinc_codes(owner=alice_tenant, actor=ACTOR, codes=codes)

    hdl.refresh_from_db()
    assert (refused.value.code, hdl.loinc_code) == (error, "")
    assert CatalogueUpdate.objects.filter(number=2).count() == 0


def test_another_team_can_confirm_nothing(hdl, charlie_tenant):
    with pytest.raises(NotFound):
        confirm_loinc_codes(owner=charlie_tenant, actor=ACTOR, codes={hdl.pk: HDL})

    hdl.refresh_from_db()
    assert hdl.loinc_code == ""


def test_a_code_confirmed_meanwhile_is_not_replaced(hdl, alice_tenant):
    confirm_loinc_codes(owner=alice_tenant, actor=ACTOR, codes={hdl.pk: HDL})

    with pytest.raises(DomainError) as refused:
        confirm_loinc_codes(owner=alice_tenant, actor=ACTOR, codes={hdl.pk: "2345-7"})

    hdl.refresh_from_db()
    assert (refused.value.code, hdl.loinc_code) == ("loinc_code_confirmed", HDL)
