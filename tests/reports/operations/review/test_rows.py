"""Rows of a review: each change is a version, checked again, never over another's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.models import AuditEntry
from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import ReportResult, Review
from reports.operations.review.additions import add_review_row
from reports.operations.review.checks import RowText
from reports.operations.review.rows import (
    confirm_review_row,
    confirm_unflagged_panel_rows,
    edit_review_row_text,
    exclude_review_row,
    set_review_row_box,
    set_review_row_loinc_code,
    undo_review_row_change,
)
from reports.operations.review.saving import RowRef
from reports.parser.report import (
    LoincMatchStatus,
    Note,
    NoteCode,
    PageSize,
    Place,
    Point,
    RowState,
)
from reports.queries import list_review_row_versions
from reports.states import RowPart
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, ref_of, rows_of, tenant_and_actor, text_of

pytestmark = pytest.mark.django_db
BOX = Place(1, (Point(10.0, 10.0), Point(60.0, 10.0), Point(60.0, 20.0)))


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def review(user):
    report = make_parsed(
        results=(
            make_parsed_result(),
            make_parsed_result(
                test_name="Sodium", loinc_matches=(), value="140", units="mmol/L"
            ),
        ),
        page_sizes=(PageSize(1, 612.0, 792.0),),
    )
    return make_review(user=user, report=report, claimed_by=NORA)


def stored(review):
    return Review.objects.for_tenant(review.tenant).get(id=review.id)


def test_an_edited_value_is_judged_anew_and_keeps_its_box(review):
    before = rows_of(review)[0]

    saved = edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="85"),
    )

    row = rows_of(review)[0]
    assert saved.row.values == row.values
    assert (row.values["value"], row.values["interpretation"]) == ("85", "normal")
    assert (row.values["is_above_max_range"], row.decision) == (False, "edited")
    assert row.values["provenance"] == before.values["provenance"]
    assert row.values["loinc_matches"] == before.values["loinc_matches"]
    first, second = list_review_row_versions(
        tenant=review.tenant, review=review, position=0
    )
    assert (first.values["value"], second.values["value"]) == ("105", "85")
    assert (second.version, second.actor_key) == (2, NORA.key)
    machine = ReportResult.objects.for_tenant(review.tenant).get(position=0)
    assert (machine.value, machine.version) == ("105", 0)


def test_an_audit_line_of_a_change_names_fields_and_no_value(review):
    edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="85"),
    )

    entry = AuditEntry.objects.for_tenant(review.tenant).get(verb="edit_row")
    assert entry.changes["positions"] == [0]
    assert "value" in entry.changes["fields"]
    assert "85" not in str(entry.changes)


def test_a_change_on_an_old_version_is_refused_and_loses_nothing(review):
    seen = ref_of(review)
    edit_review_row_text(
        **tenant_and_actor(review), ref=seen, text=replace(text_of(review), value="85")
    )

    with pytest.raises(Conflict) as refusal:
        edit_review_row_text(
            **tenant_and_actor(review),
            ref=seen,
            text=replace(text_of(review), value="8"),
        )

    assert refusal.value.code == "row_changed"
    row = rows_of(review)[0]
    assert (row.values["value"], row.version) == ("85", 2)


def test_a_new_unit_is_read_as_ucum_and_its_range_is_read_again(review):
    text = replace(text_of(review), units="mmol/L", value="5.4", reference_range="4-6")

    edit_review_row_text(**tenant_and_actor(review), ref=ref_of(review), text=text)

    values = rows_of(review)[0].values
    assert (values["ucum"], values["units"]) == ("mmol/L", "mmol/L")
    assert (values["min_reference_range"], values["max_reference_range"]) == (4.0, 6.0)
    assert values["confidence"]["overall"] is None
    assert values["loinc_matches"][0]["loinc_code"] == "14749-6"


def test_a_change_that_contradicts_another_row_asks_about_it_again(user):
    names = [
        ("Cholesterol, Total", "200"),
        ("HDL Cholesterol", "50"),
        ("Non-HDL Cholesterol", "150"),
    ]
    report = make_parsed(
        results=tuple(
            make_parsed_result(
                test_name=name, value=value, loinc_matches=(), reference_range=None
            )
            for name, value in names
        )
    )
    review = make_review(user=user, report=report, claimed_by=NORA)
    for position, (name, _) in enumerate(names):
        text = replace(text_of(review, position), test_name=f"{name} ", units="mg/dl")
        edit_review_row_text(
            **tenant_and_actor(review), ref=ref_of(review, position), text=text
        )
    assert [row.decision for row in rows_of(review)] == ["edited"] * 3

    text = replace(text_of(review), value="20.0")
    saved = edit_review_row_text(
        **tenant_and_actor(review), ref=ref_of(review), text=text
    )

    rows = rows_of(review)
    assert [row.state for row in rows] == ["contradiction"] * 3
    assert [row.decision for row in rows] == ["undecided"] * 3
    assert sorted(row.position for row in saved.others) == [1, 2]
    assert stored(review).flagged == 3
    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))
    assert [row.state for row in rows_of(review)] == ["auto"] * 3
    assert stored(review).flagged == 0


def test_notes_on_the_header_stay_through_a_change(user):
    note = Note(NoteCode.DATE_IN_FUTURE, RowState.LOOK)
    review = make_review(user=user, report=make_parsed(notes=(note,)), claimed_by=NORA)

    confirm_review_row(**tenant_and_actor(review), ref=ref_of(review))

    assert [found["code"] for found in stored(review).notes] == ["date_in_future"]


def test_a_confirmed_row_is_decided(review):
    confirm_review_row(**tenant_and_actor(review), ref=ref_of(review))

    assert [row.decision for row in rows_of(review)] == ["confirmed", "undecided"]


def test_plain_rows_of_a_panel_are_confirmed_together_but_no_flagged_one(user):
    unsure = LoincMatchStatus.NEEDS_REVIEW
    report = make_parsed(
        results=(
            make_parsed_result(source_panel_name="CMP"),
            make_parsed_result(source_panel_name="CMP", loinc_match_status=unsure),
            make_parsed_result(source_panel_name="Lipids"),
        )
    )
    review = make_review(user=user, report=report, claimed_by=NORA)

    done = confirm_unflagged_panel_rows(
        **tenant_and_actor(review), review_id=review.id, panel="CMP"
    )

    assert [row.position for row in done] == [0]
    decisions = [row.decision for row in rows_of(review)]
    assert decisions == ["confirmed", "undecided", "undecided"]


def test_an_excluded_row_says_why(review):
    with pytest.raises(DomainError) as refusal:
        exclude_review_row(**tenant_and_actor(review), ref=ref_of(review), reason="")
    assert refusal.value.code == "reason_missing"
    assert rows_of(review)[0].version == 1

    exclude_review_row(
        **tenant_and_actor(review), ref=ref_of(review), reason="a page footer"
    )

    row = rows_of(review)[0]
    assert (row.decision, row.reason, row.version) == ("excluded", "a page footer", 2)


def test_undoing_makes_a_version_like_the_one_before(review):
    edit_review_row_text(
        **tenant_and_actor(review),
        ref=ref_of(review),
        text=replace(text_of(review), value="85"),
    )

    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))

    row = rows_of(review)[0]
    assert (row.values["value"], row.decision, row.version) == ("105", "undecided", 3)


def test_undoing_walks_back_step_by_step(review):
    for value in ("85", "95"):
        text = replace(text_of(review), value=value)
        edit_review_row_text(**tenant_and_actor(review), ref=ref_of(review), text=text)

    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))
    one_back = rows_of(review)[0].values["value"]
    undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))

    row = rows_of(review)[0]
    assert (one_back, row.values["value"], row.version) == ("85", "105", 5)
    with pytest.raises(DomainError) as refusal:
        undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))
    assert refusal.value.code == "nothing_to_undo"


def test_a_redrawn_box_moves_and_changes_nothing_else(review):
    set_review_row_box(
        **tenant_and_actor(review), ref=ref_of(review), part=RowPart.UNITS, place=BOX
    )
    drawn = rows_of(review)[0]
    set_review_row_box(
        **tenant_and_actor(review), ref=ref_of(review), part=RowPart.VALUE, place=None
    )

    assert drawn.values["provenance"]["units"]["polygon"][0] == [10, 10]
    assert drawn.values["provenance"]["value"]["page"] == 1
    row = rows_of(review)[0]
    assert row.values["provenance"]["value"] is None
    assert (row.values["value"], row.decision) == ("105", "undecided")
    nowhere = replace(BOX, page=2)
    with pytest.raises(DomainError) as refusal:
        set_review_row_box(
            **tenant_and_actor(review),
            ref=ref_of(review),
            part=RowPart.NAME,
            place=nowhere,
        )
    assert refusal.value.code == "place_not_on_page"


def test_nothing_is_undone_twice_over(review):
    with pytest.raises(DomainError) as refusal:
        undo_review_row_change(**tenant_and_actor(review), ref=ref_of(review))

    assert refusal.value.code == "nothing_to_undo"


def test_an_added_row_is_read_and_stands_in_its_box(review):
    text = RowText(test_name="Potassium", value="4.1", units="mmol/L")

    saved = add_review_row(
        **tenant_and_actor(review), review_id=review.id, text=text, place=BOX
    )

    row = rows_of(review)[2]
    assert (row.position, row.decision, row.version) == (2, "added", 1)
    assert row.values["provenance"]["value"]["page"] == 1
    assert row.values["loinc_matches"][0]["loinc_code"] == "2823-3"
    assert (saved.row.values, row.values["ucum"]) == (row.values, "mmol/L")


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        (RowText(test_name=" ", value="4"), None, "row_incomplete"),
        (RowText(test_name="Iron", value="\0"), None, "row_incomplete"),
        (RowText(test_name="Iron", value="4" * 1001), None, "text_too_long"),
        (RowText(test_name="Iron", value="4"), Place(2, BOX.polygon), "place"),
        (RowText(test_name="Iron", value="4"), Place(1, (Point(1, 900),) * 3), "place"),
    ],
)
def test_a_row_that_says_nothing_or_stands_nowhere_is_not_added(
    review, text, place, code
):
    with pytest.raises(DomainError) as refusal:
        add_review_row(
            **tenant_and_actor(review), review_id=review.id, text=text, place=place
        )

    assert refusal.value.code.startswith(code)
    assert len(rows_of(review)) == 2


def test_a_chosen_code_leads_and_none_leaves_none(review):
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review, 1), loinc_code="2951-2"
    )
    chosen = rows_of(review)[1]
    set_review_row_loinc_code(
        **tenant_and_actor(review), ref=ref_of(review, 1), loinc_code=None
    )

    assert chosen.values["loinc_matches"][0]["loinc_code"] == "2951-2"
    assert (chosen.values["loinc_match_status"], chosen.decision) == (
        "auto_match",
        "edited",
    )
    none = rows_of(review)[1].values
    assert (none["loinc_matches"], none["loinc_match_status"]) == ([], "no_match")


def test_a_code_that_nobody_knows_is_refused(review):
    with pytest.raises(DomainError) as refusal:
        set_review_row_loinc_code(
            **tenant_and_actor(review), ref=ref_of(review), loinc_code="99999-0"
        )

    assert refusal.value.code == "loinc_unknown"
    assert rows_of(review)[0].version == 1


def test_a_row_that_does_not_exist_is_not_found(review, charlie_tenant):
    with pytest.raises(NotFound):
        confirm_review_row(**tenant_and_actor(review), ref=RowRef(review.id, 9, 1))
    with pytest.raises(NotFound):
        confirm_review_row(tenant=charlie_tenant, actor=NORA, ref=ref_of(review))


def test_a_code_does_not_settle_an_impossible_value(user):
    note = Note(NoteCode.IMPLAUSIBLE, RowState.CONTRADICTION, (0,))
    result = make_parsed_result(
        test_name="Potassium", value="42", units="mmol/L", loinc_matches=()
    )
    report = make_parsed(results=(result,), notes=(note,))
    review = make_review(user=user, report=report, claimed_by=NORA)

    def choose(code):
        about = {**tenant_and_actor(review), "ref": ref_of(review)}
        set_review_row_loinc_code(**about, loinc_code=code)
        (row,) = rows_of(review)
        return row.state, row.decision, row.reason

    assert choose("2823-3") == ("contradiction", "undecided", "")
    confirm_review_row(
        **tenant_and_actor(review), ref=ref_of(review), reason="Called the lab."
    )
    assert choose("6298-4") == ("contradiction", "edited", "Called the lab.")
    text = replace(text_of(review), value="4.2")
    edit_review_row_text(**tenant_and_actor(review), ref=ref_of(review), text=text)
    (row,) = rows_of(review)
    assert (row.state, row.decision) == ("auto", "edited")
