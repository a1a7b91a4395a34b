"""Codes of a parsed report: by the team's mappings, and what follows from them."""

from __future__ import annotations

import pytest

from reports.operations import loinc_codes
from reports.operations.loinc_aliases import approve_loinc_alias, propose_loinc_alias
from reports.operations.loinc_codes import decide_loinc_codes_of_report
from reports.operations.review.rows import set_review_row_loinc_code
from reports.parser.report import LoincMatchStatus, Metadata
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, OTTO, ref_of, tenant_and_actor

pytestmark = pytest.mark.django_db
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
def tenant(alice_tenant):
    """A team with a mapping of one name at one lab."""
    review = make_review(
        user=make_user(tenant=alice_tenant),
        report=make_parsed(results=(ODD,)),
        claimed_by=NORA,
        metadata={"lab_name": "Example Laboratory"},
    )
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review), loinc_code="2951-2"
    )
    alias = propose_loinc_alias(**tenant_and_actor(review), ref=ref_of(review))
    approve_loinc_alias(tenant=alice_tenant, actor=OTTO, alias_id=alias.pk)
    return alice_tenant


def decide(tenant, *, lab, value="140"):
    row = make_parsed_result(
        test_name="NATR (ISE)",
        value=value,
        units="mmol/L",
        ucum="mmol/L",
        reference_range="135 - 145",
        loinc_matches=(),
        loinc_match_status=LoincMatchStatus.NO_MATCH,
    )
    report = make_parsed(metadata=Metadata(lab_name=lab), results=(row,))
    return decide_loinc_codes_of_report(tenant=tenant, report=report)


@pytest.mark.parametrize(
    ("lab", "queries"), [("Example Laboratory", 1), ("Other", 1), (None, 0)]
)
def test_mappings_are_read_by_one_query_where_a_lab_is_named(
    lab, queries, tenant, django_assert_num_queries
):
    with django_assert_num_queries(queries):
        decide(tenant, lab=lab)


def test_the_checks_run_again_only_where_a_mapping_changed_a_row(tenant, monkeypatch):
    checked = []
    recheck = loinc_codes.recheck_changed_results

    def note_and_recheck(report):
        checked.append(report)
        return recheck(report)

    monkeypatch.setattr(loinc_codes, "recheck_changed_results", note_and_recheck)

    decide(tenant, lab="Other")
    unmapped = len(checked)
    # No value of sodium, which only a row with its code can show.
    mapped = decide(tenant, lab="Example Laboratory", value="1400")

    assert (unmapped, len(checked)) == (0, 1)
    assert [note.code.value for note in mapped.notes]
