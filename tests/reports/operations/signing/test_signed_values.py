"""Signed values of reports stand in a person's trends beside lab results."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labs.queries.results.trends import list_result_trends_of_user
from reports.queries import get_parsing_job
from tests.factories.labs import make_lab_test
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user
from tests.reports.desk import NORA, decide_all, sign

pytestmark = pytest.mark.django_db
GLUCOSE = "2345-7"
HEADER = {"lab_name": "Example Laboratory", "date_collected": "2026-03-02"}


def test_a_signed_value_joins_the_results_of_orders_for_those_who_may_read_it(
    alice_tenant, charlie_tenant, django_assert_num_queries
):
    user = make_user(tenant=alice_tenant)
    panel = make_lab_test(tenant=alice_tenant)
    order = make_order_awaiting_results(tenant=alice_tenant, user=user, lab_test=panel)
    at = datetime(2026, 3, 9, tzinfo=UTC)
    make_results(
        order=order,
        results=(make_reported_result("Glucose", "85", loinc=GLUCOSE, observed_at=at),),
    )
    codeless = make_parsed_result(test_name="Odd", loinc_matches=(), value="1")
    review = make_review(
        user=user,
        report=make_parsed(results=(make_parsed_result(), codeless)),
        claimed_by=NORA,
        metadata=HEADER,
    )

    def texts(tenant=alice_tenant, **asked):
        found = list_result_trends_of_user(tenant=tenant, user_uuid=user.uuid, **asked)
        return {
            measure: [(point.result.text, point.result.lab) for point in trend.points]
            for measure, trend in found.items()
        }

    mine = [("85", order.lab.name)]
    assert texts(reads={"reports"}) == {GLUCOSE: mine}
    decide_all(review)
    sign(review)

    with django_assert_num_queries(2):
        both = texts(reads={"reports"}, measures=[GLUCOSE])
    assert both == {GLUCOSE: [("105", "Example Laboratory"), *mine]}
    assert texts(reads={"orders"}) == {GLUCOSE: mine}
    assert texts(reads={"reports"}, measures=["718-7"]) == {}
    assert texts(charlie_tenant, reads={"reports"}) == {}
    job = get_parsing_job(tenant=alice_tenant, job_id=review.job_id)
    job.replaced_by = job
    job.save(update_fields=["replaced_by"])
    assert texts(reads={"reports"}) == {GLUCOSE: mine}
