from __future__ import annotations

from functools import partial

import pytest

from tests.factories.users import make_user
from tests.users.operations.imports.beats import NOON
from users.operations.imports.runs import run_health_data_import


@pytest.fixture
def noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="u-1")


@pytest.fixture
def commits(django_capture_on_commit_callbacks):
    """What waits for the end of the transaction is done at the end of the block."""
    return partial(django_capture_on_commit_callbacks, execute=True)


@pytest.fixture
def run(commits):
    def run(job):
        with commits():
            run_health_data_import(tenant_pk=job.tenant_id, job_id=job.id)
        job.refresh_from_db()
        return job

    return run
