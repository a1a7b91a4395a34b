from __future__ import annotations

from datetime import timedelta

import pytest

from portal.lib.errors import DomainError
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.packed import list_samples
from tests.users.operations.imports.beats import BEATS, NOON, files, start
from users.operations.imports.status import (
    cancel_health_data_import,
    cancel_unconfirmed_imports,
)
from users.operations.imports.submission import ImportRequest, start_health_data_import
from users.states.imports import ImportStatus

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]


def test_cancelling_before_the_start_leaves_nothing(user, alice_tenant, commits, run):
    job = start(user, BEATS)

    with commits():
        cancel_health_data_import(job=job, actor=ACTOR)

    assert run(job).status == ImportStatus.CANCELLED
    assert job.rows_read == 0
    assert files() == []
    assert changes_of(alice_tenant, "cancel_import") == {
        "status": ["waiting", "cancelled"]
    }
    with pytest.raises(DomainError) as refused:
        cancel_health_data_import(job=job, actor=ACTOR)
    assert refused.value.code == "transition_not_allowed"


def test_a_plan_that_no_member_confirms_in_a_day_is_cancelled(
    user, alice_tenant, commits, run, time_machine
):
    request = ImportRequest(file_name="beats.ndjson", chunks=[BEATS])
    job = start_health_data_import(
        user=user, actor=ACTOR, request=request, needs_confirmation=True
    )
    run(job)
    assert len(files()) == 2

    for hours, swept, status in [(23, 0, "ready"), (25, 1, "cancelled")]:
        time_machine.move_to(NOON + timedelta(hours=hours), tick=False)
        with commits():
            assert cancel_unconfirmed_imports() == swept
        job.refresh_from_db()
        assert job.status == status

    assert files() == []
    assert list_samples(user.pk) == []
    assert changes_of(alice_tenant, "cancel_import") == {
        "status": ["ready", "cancelled"]
    }
