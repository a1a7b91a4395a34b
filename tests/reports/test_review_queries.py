"""What the desk shows: its queue, rows in order of need, persons, duplicates."""

from __future__ import annotations

from datetime import date

import pytest

from portal.lib.errors import NotFound
from reports.models import Review
from reports.operations.review.rows import confirm_review_row
from reports.parser.report import Interpretation, Note, NoteCode, RowState
from reports.queries import (
    compare_report_patient_with_user,
    find_duplicate_reports,
    get_review,
    sort_rows_by_review_urgency,
)
from reports.queries.review_queue import (
    TabFilters,
    count_reviews_per_tab,
    list_reviews_in_tab,
)
from reports.states import ParsingJobStatus
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.reports.desk import NORA, OTTO, ref_of, rows_of, tenant_and_actor

pytestmark = pytest.mark.django_db
CRITICAL = make_parsed_result(interpretation=Interpretation.CRITICAL)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def listed(tenant, tab="open", **filters):
    wanted = TabFilters(tab=tab, member=OTTO.key, **filters)
    return [review.id for review in list_reviews_in_tab(tenant=tenant, filters=wanted)]


def test_the_queue_has_critical_reports_first_then_the_oldest(
    user, charlie_tenant, django_assert_num_queries
):
    first, second = make_review(user=user), make_review(user=user, claimed_by=OTTO)
    urgent = make_review(user=user, report=make_parsed(results=(CRITICAL,)))
    make_review(user=make_user(tenant=charlie_tenant))

    with django_assert_num_queries(1):
        found = listed(user.tenant)

    assert found == [urgent.id, first.id, second.id]
    assert listed(user.tenant, tab="mine") == [second.id]
    assert listed(user.tenant, tab="done") == []
    assert count_reviews_per_tab(tenant=user.tenant, member=OTTO.key) == {
        "open": 3,
        "mine": 1,
        "second": 0,
        "disputed": 0,
        "done": 0,
    }
    assert listed(user.tenant, needs_attention=True) == [urgent.id]


def test_a_stranger_reads_no_review(user, charlie_tenant):
    review = make_review(user=user)

    assert get_review(tenant=user.tenant, review_id=review.id) == review
    with pytest.raises(NotFound):
        get_review(tenant=charlie_tenant, review_id=review.id)


def test_rows_that_need_a_person_come_first(user):
    report = make_parsed(
        results=tuple(make_parsed_result(test_name=f"Test {n}") for n in range(4)),
        notes=(
            Note(NoteCode.UNIT_MISSING, RowState.LOOK, (1, 3)),
            Note(NoteCode.ARITHMETIC, RowState.CONTRADICTION, (2,)),
        ),
    )
    review = make_review(user=user, report=report)

    rows = sort_rows_by_review_urgency(rows_of(review))

    assert [row.position for row in rows] == [2, 1, 3, 0]


def test_a_decided_row_needs_nobody(user):
    report = make_parsed(results=(CRITICAL,))
    review = make_review(user=user, report=report, claimed_by=NORA)

    confirm_review_row(**tenant_and_actor(review), ref=ref_of(review))

    assert Review.objects.for_tenant(user.tenant).get().flagged == 0


@pytest.mark.parametrize(
    ("dob", "agrees"),
    [
        ("1990-01-02", True),
        ("1990-02-01", True),  # the other order of day and month
        ("1990-01-03", False),
        (None, None),
    ],
)
def test_a_birth_date_is_held_against_the_users(user, dob, agrees):
    user.fallback_birth_date = date(1990, 1, 2)
    user.save(update_fields=["fallback_birth_date"])
    job = make_parsing_job(user=user, metadata={"dob": dob})

    found = {
        line.field: line.agrees for line in compare_report_patient_with_user(job=job)
    }

    assert found == {"name": None, "dob": agrees, "gender": None}


def test_a_file_or_specimen_that_is_known_is_a_duplicate(user, charlie_tenant):
    specimen = {"specimen_number": "S-1", "date_collected": "2026-03-02"}
    done = ParsingJobStatus.COMPLETED
    same_file = make_parsing_job(user=user, status=done)
    same_tube = make_parsing_job(
        user=user, status=done, content=b"2", metadata=specimen
    )
    make_parsing_job(user=user, status=ParsingJobStatus.FAILED)
    make_parsing_job(
        user=user,
        status=done,
        content=b"3",
        metadata={**specimen, "date_collected": "2026-03-03"},
    )
    make_parsing_job(user=make_user(tenant=charlie_tenant), status=done)

    job = make_parsing_job(user=user, metadata=specimen)

    assert {found.id for found in find_duplicate_reports(job=job)} == {
        same_file.id,
        same_tube.id,
    }
