from __future__ import annotations

import pytest

from portal.lib.errors import DomainError
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.users.operations.imports.beats import BEATS, files, start
from users.operations.imports.status import cancel_health_data_import
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
