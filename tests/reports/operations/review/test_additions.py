"""Rows that a person makes: added where they stand, split, merged, and taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portal.lib.errors import DomainError
from reports.operations.review.additions import (
    add_review_row,
    merge_review_rows,
    split_review_row,
    suggest_merged_row_text,
)
from reports.operations.review.checks import RowText
from reports.operations.review.rows import undo_review_row_change
from reports.parser.report import PageSize, Place, Point, Provenance
from reports.payloads import build_parsing_job_payload
from reports.queries import get_parsing_job, list_review_rows
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import (
    NORA,
    decide_all,
    ref_of,
    rows_of,
    sign,
    tenant_and_actor,
    text_of,
)

pytestmark = pytest.mark.django_db


def box(top, left=10.0):
    corners = ((left, top), (left + 50, top), (left + 50, top + 10), (left, top + 10))
    return Place(1, tuple(Point(x, y) for x, y in corners))


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def review(user):
    """Rows at 100, 120 and 140 points from the top."""
    report = make_parsed(
        results=tuple(
            make_parsed_result(
                test_name=name, provenance=Provenance(name=box(top), value=box(top, 90))
            )
            for name, top in (("Glucose", 100), ("Sodium", 120), ("Iron", 140))
        ),
        page_sizes=(PageSize(1, 612.0, 792.0),),
    )
    return make_review(user=user, report=report, claimed_by=NORA)


def names(review):
    return [
        row.values["test_name"]
        for row in list_review_rows(tenant=review.tenant, review=review)
        if row.is_included
    ]


def test_an_added_row_stands_where_it_was_drawn_and_opens_at_its_ink(review):
    text = RowText(test_name="Potassium", value="4.1", units="mmol/L")
    add_review_row(
        **tenant_and_actor(review), review_id=review.id, text=text, place=box(125)
    )
    typed = RowText(test_name="Ferritin", value="30", units="ng/mL")
    add_review_row(**tenant_and_actor(review), review_id=review.id, text=typed)
    assert names(review) == ["Glucose", "Sodium", "Potassium", "Iron", "Ferritin"]

    decide_all(review)
    sign(review)

    job = get_parsing_job(tenant=review.tenant, job_id=review.job_id)
    data = build_parsing_job_payload(job, with_provenance=True)["data"]
    places = {one["test_name"]: one["provenance"]["value"] for one in data["results"]}
    assert places["Potassium"]["polygon"][0] == [10.0, 125]
    assert places["Glucose"]["polygon"][0] == [90, 100]
    assert places["Ferritin"] is None


def test_a_split_row_is_two_of_one_box_until_it_is_undone(review):
    whole = text_of(review, 1)
    chloride = RowText(test_name="Chloride", value="101", units="mmol/L")
    parts = [replace(whole, value="140"), chloride]

    saved = split_review_row(
        **tenant_and_actor(review), ref=ref_of(review, 1), parts=parts
    )

    assert names(review) == ["Glucose", "Sodium", "Chloride", "Iron"]
    made = saved.others[0]
    assert (made.position, made.decision, saved.row.decision) == (3, "added", "edited")
    assert made.values["provenance"] == saved.row.values["provenance"]
    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review, 1))
    assert names(review) == ["Glucose", "Sodium", "Iron"]
    row = rows_of(review)[1]
    assert (row.values["value"], row.decision) == ("105", "undecided")


def test_merged_rows_are_one_with_the_ink_of_both_until_it_is_undone(review):
    text = suggest_merged_row_text(rows_of(review)[:2])
    assert (text.test_name, text.value) == ("Glucose Sodium", "105")

    merge_review_rows(
        **tenant_and_actor(review),
        refs=[ref_of(review, 0), ref_of(review, 1)],
        text=text,
    )

    assert names(review) == ["Glucose Sodium", "Iron"]
    first, second = rows_of(review)[:2]
    assert first.values["provenance"]["name"]["polygon"][::2] == [
        [10, 100],
        [60, 130],
    ]
    assert second.decision == "excluded"
    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))
    assert names(review) == ["Glucose", "Sodium", "Iron"]


def test_what_is_no_split_and_no_merge_changes_nothing(review):
    one = text_of(review)
    for act in (
        lambda: split_review_row(
            **tenant_and_actor(review), ref=ref_of(review), parts=[one]
        ),
        lambda: merge_review_rows(
            **tenant_and_actor(review), refs=[ref_of(review)] * 2, text=one
        ),
    ):
        with pytest.raises(DomainError) as refusal:
            act()
        assert refusal.value.code == "row_incomplete"

    assert [row.version for row in rows_of(review)] == [1, 1, 1]
