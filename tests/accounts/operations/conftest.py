from __future__ import annotations

import pytest
from django.conf import settings

from accounts.operations.audit.chain import (
    record_audit_chain_anchors,
    seal_new_audit_entries,
)
from tests.accounts.operations.chains import record
from tests.factories.accounts import make_tenant


@pytest.fixture
def _anchors(tmp_path):
    """A file of anchors of the test's own."""
    before = settings.AUDIT_ANCHORS
    settings.AUDIT_ANCHORS = tmp_path / "anchors.ndjson"
    yield
    settings.AUDIT_ANCHORS = before


@pytest.fixture
def chained_tenant(db, _anchors):
    """Two seals of three and two entries, each anchored, beside another's."""
    made, other = make_tenant(), make_tenant()
    record(made, 2)
    seal_new_audit_entries()
    record_audit_chain_anchors()
    record(made, 2)
    record(other)
    seal_new_audit_entries()
    record_audit_chain_anchors()
    return made
