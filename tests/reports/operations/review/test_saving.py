"""What saving a row costs, and what a version of it tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reports.operations.review.rows import edit_review_row_text
from reports.queries import list_review_row_versions
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.users import make_user
from tests.reports.desk import NORA, ref_of, tenant_and_actor, text_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rows", [2, 30])
def test_saving_a_row_takes_as_many_queries_however_long_the_report(alice_tenant, rows):
    report = make_parsed(
        results=tuple(make_parsed_result(test_name=f"Test {n}") for n in range(rows))
    )
    user = make_user(tenant=alice_tenant)
    review = make_review(user=user, report=report, claimed_by=NORA)
    ref, text = ref_of(review), replace(text_of(review), value="85")

    with CaptureQueriesContext(connection) as queries:
        edit_review_row_text(**tenant_and_actor(review), ref=ref, text=text)

    statements = [q["sql"] for q in queries if "SAVEPOINT" not in q["sql"]]
    # Two of them for the critical limits: those of the team, and the patient.
    assert len(statements) == 7  # and the audit line, past the ORM
    last = list_review_row_versions(tenant=review.tenant, review=review, position=0)[-1]
    assert (last.act, last.together, last.actor_key) == ("edit_row", [0], NORA.key)
