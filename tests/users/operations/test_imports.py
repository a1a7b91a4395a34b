from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.models import Sample
from users.operations.imports import (
    ImportRequest,
    run_import,
    start_import,
)
from users.states.imports import ImportStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


def lines(*rows):
    return b"\n".join(orjson.dumps(row) for row in rows) + b"\n"


def beat(minute, value):
    return {
        "resource": "heartrate",
        "timestamp": f"2026-02-28T10:{minute:02}:00+00:00",
        "value": value,
    }


def start(user, content, name="beats.ndjson", **wanted):
    request = ImportRequest(file_name=name, chunks=[content], **wanted)
    return start_import(user=user, actor=ACTOR, wanted=request, runs_here=True)


def run(job):
    run_import(tenant_pk=job.tenant_id, job_id=job.id)
    job.refresh_from_db()
    return job


def test_a_file_is_stored_and_counted(user, alice_tenant):
    job = run(start(user, lines(beat(0, 60), beat(1, 61), {"resource": "moods"})))

    assert job.status == ImportStatus.COMPLETED
    assert (job.rows_read, job.rows_accepted, job.rows_dropped) == (3, 2, 1)
    assert job.drops == {"unknown_kind": {"moods": 1}}
    assert job.counts == {
        "heartrate": {
            "created": 2,
            "updated": 0,
            "unchanged": 0,
            "first": "2026-02-28T10:00:00+00:00",
            "last": "2026-02-28T10:01:00+00:00",
        }
    }
    values = Sample.objects.filter(user_id=user.pk).order_by("ts")
    assert list(values.values_list("value", flat=True)) == [60.0, 61.0]
