from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from portal.lib.errors import NotFound
from reports.queries import (
    JobFilters,
    count_parsing_jobs_per_status,
    get_parsing_job,
    list_parsing_jobs,
    list_report_files,
    list_report_results,
)
from reports.states import ParsingJobStatus
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.users import make_user
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="patient-17")


@pytest.fixture
def jobs(alice_tenant, user):
    """Three jobs of two users, oldest first."""
    other = make_user(tenant=alice_tenant, client_user_id="someone")
    return [
        make_parsing_job(user=user, created_at=at(1)),
        make_parsing_job(
            user=other,
            created_at=at(2, 23),
            status=ParsingJobStatus.COMPLETED,
            report=make_parsed(),
            metadata={"lab_name": "Northern Lab", "patient_last_name": "Beispiel"},
        ),
        make_parsing_job(
            user=user, created_at=at(3, 0), status=ParsingJobStatus.FAILED
        ),
    ]


def listed(tenant, **filters):
    return list(list_parsing_jobs(tenant=tenant, filters=JobFilters(**filters)))


def test_jobs_come_newest_first(jobs, alice_tenant):
    assert listed(alice_tenant) == jobs[::-1]


def test_a_stranger_sees_none(jobs, charlie_tenant):
    assert listed(charlie_tenant) == []
    assert count_parsing_jobs_per_status(tenant=charlie_tenant) == {}


FILTERS = {
    "one status": ({"statuses": ("failed",)}, [2]),
    "two statuses": ({"statuses": ("failed", "completed")}, [2, 1]),
    "an unknown status": ({"statuses": ("archived",)}, []),
}


@pytest.mark.parametrize(("filters", "expected"), FILTERS.values(), ids=FILTERS.keys())
def test_a_filter_keeps_what_it_names(filters, expected, jobs, alice_tenant):
    assert listed(alice_tenant, **filters) == [jobs[index] for index in expected]


def test_jobs_of_one_user(jobs, alice_tenant, user):
    assert listed(alice_tenant, user_uuid=user.uuid) == [jobs[2], jobs[0]]


def test_jobs_are_counted_per_status(jobs, alice_tenant):
    assert count_parsing_jobs_per_status(tenant=alice_tenant) == {
        "upload_pending": 1,
        "completed": 1,
        "failed": 1,
    }


@pytest.mark.parametrize("number", [1, 2, 50])
def test_a_list_costs_one_query(number, alice_tenant, user, django_assert_num_queries):
    for _ in range(number):
        make_parsing_job(user=user)

    with django_assert_num_queries(1):
        names = [job.user.client_user_id for job in listed(alice_tenant)]

    assert len(names) == number


def test_one_job_comes_with_its_user(jobs, alice_tenant, django_assert_num_queries):
    with django_assert_num_queries(1):
        job = get_parsing_job(tenant=alice_tenant, job_id=jobs[0].id)
        assert job.user.client_user_id == "patient-17"


def test_an_unknown_job_is_not_found(alice_tenant):
    with pytest.raises(NotFound):
        get_parsing_job(tenant=alice_tenant, job_id=uuid4())


def test_jobs_of_a_deleted_user_vanish(jobs, alice_tenant, user):
    delete_user(user=user, actor=ACTOR)

    assert listed(alice_tenant) == [jobs[1]]
    assert count_parsing_jobs_per_status(tenant=alice_tenant) == {"completed": 1}
    with pytest.raises(NotFound):
        get_parsing_job(tenant=alice_tenant, job_id=jobs[0].id)


def test_results_come_in_reading_order(alice_tenant, user):
    names = ["Sodium", "Albumin", "Glucose"]
    job = make_parsing_job(
        user=user,
        status=ParsingJobStatus.COMPLETED,
        report=make_parsed(
            results=tuple(make_parsed_result(test_name=name) for name in names)
        ),
    )

    assert [row.test_name for row in list_report_results(job)] == names


def test_a_job_without_data_shows_no_results(alice_tenant, user):
    job = make_parsing_job(
        user=user, status=ParsingJobStatus.STARTED, report=make_parsed()
    )

    assert list_report_results(job) == []


def test_files_come_in_their_order(alice_tenant, user):
    job = make_parsing_job(user=user)

    assert [file.position for file in list_report_files(job)] == [0]
