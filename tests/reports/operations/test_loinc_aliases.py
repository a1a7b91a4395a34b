"""A team's own names: one proposes, another agrees, later reports use them."""

from __future__ import annotations

import pytest

from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from reports.models import LoincAlias
from reports.operations.loinc_aliases import (
    approve_loinc_alias,
    end_loinc_alias,
    propose_loinc_alias,
)
from reports.operations.loinc_codes import decide_loinc_codes_of_report
from reports.operations.review.rows import set_review_row_loinc_code
from reports.parser.report import LoincMatchStatus, Metadata
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, OTTO, ref_of, tenant_and_actor

pytestmark = pytest.mark.django_db
LAB = Metadata(lab_name="Example Laboratory")
ODD = make_parsed_result(
    test_name="Natr. (ISE)",
    value="140",
    units="mmol/L",
    ucum="mmol/L",
    reference_range="135 - 145",
    loinc_matches=(),
    loinc_match_status=LoincMatchStatus.NO_MATCH,
)


@pytest.fixture
def review(alice_tenant):
    return make_review(
        user=make_user(tenant=alice_tenant),
        report=make_parsed(results=(ODD,)),
        claimed_by=NORA,
        metadata={"lab_name": "EXAMPLE laboratory"},
    )


@pytest.fixture
def alias(review):
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review), loinc_code="2951-2"
    )
    return propose_loinc_alias(**tenant_and_actor(review), ref=ref_of(review))


def read(tenant, *, lab=LAB, **changes):
    """The first row's code and status in a report that is read now."""
    row = make_parsed_result(
        **{
            "test_name": "NATR (ISE)",
            "value": "141",
            "units": "mmol/L",
            "ucum": "mmol/L",
            "loinc_matches": (),
            "loinc_match_status": LoincMatchStatus.NO_MATCH,
            **changes,
        }
    )
    report = make_parsed(metadata=lab, results=(row,))
    (found,) = decide_loinc_codes_of_report(tenant=tenant, report=report).results
    codes = [match.loinc_code for match in found.loinc_matches]
    return codes[:1], found.loinc_match_status.value


def test_an_alias_is_used_from_when_a_second_person_agrees_until_it_is_ended(
    review, alias, charlie_tenant
):
    tenant = review.tenant
    assert read(tenant) == ([], "no_match")
    with pytest.raises(NotAllowed) as refusal:
        approve_loinc_alias(tenant=tenant, actor=NORA, alias_id=alias.pk)
    assert refusal.value.code == "second_person_needed"
    with pytest.raises(NotFound):
        approve_loinc_alias(tenant=charlie_tenant, actor=OTTO, alias_id=alias.pk)
    assert read(tenant) == ([], "no_match")

    approve_loinc_alias(tenant=tenant, actor=OTTO, alias_id=alias.pk)

    assert read(tenant) == (["2951-2"], "auto_match")
    assert read(tenant, lab=Metadata(lab_name="Other")) == ([], "no_match")
    assert read(tenant, lab=Metadata()) == ([], "no_match")
    assert read(tenant, units="mg/dL", ucum="mg/dL") == ([], "no_match")
    assert read(charlie_tenant) == ([], "no_match")
    end_loinc_alias(tenant=tenant, actor=NORA, alias_id=alias.pk)
    assert read(tenant) == ([], "no_match")
    with pytest.raises(DomainError) as ended:
        approve_loinc_alias(tenant=tenant, actor=OTTO, alias_id=alias.pk)
    assert ended.value.code == "transition_not_allowed"


def test_a_row_whose_specimen_contradicts_its_alias_goes_to_a_person(review, alias):
    approve_loinc_alias(tenant=review.tenant, actor=OTTO, alias_id=alias.pk)

    found = read(review.tenant, sample_type="urine")

    assert found == (["2951-2"], "needs_review")


def test_a_name_is_proposed_once_and_needs_a_lab_and_a_code(review, alias):
    with pytest.raises(Conflict) as known:
        propose_loinc_alias(**tenant_and_actor(review), ref=ref_of(review))
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review), loinc_code=None
    )
    with pytest.raises(DomainError) as codeless:
        propose_loinc_alias(**tenant_and_actor(review), ref=ref_of(review))
    review.job.metadata = {}
    review.job.save(update_fields=["metadata"])
    with pytest.raises(DomainError) as labless:
        propose_loinc_alias(**tenant_and_actor(review), ref=ref_of(review))

    refusals = (known, codeless, labless)
    assert [refusal.value.code for refusal in refusals] == [
        "alias_known",
        "alias_needs_code",
        "alias_needs_lab",
    ]
    assert LoincAlias.objects.for_tenant(review.tenant).count() == 1
