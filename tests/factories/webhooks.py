"""Endpoints and events for tests."""

from __future__ import annotations

from uuid import uuid4

from accounts.webhooks.operations import UserRef, emit_event
from accounts.webhooks.operations.endpoints import create_endpoint
from tests.factories.accounts import ACTOR

PUBLIC_URL = "https://hooks.customer.example/assay"
KIND = "lab_report.parsing_job.created"


def make_endpoint(*, tenant, url=PUBLIC_URL, **wanted):
    return create_endpoint(tenant=tenant, actor=ACTOR, url=url, **wanted)


def make_event(*, tenant, event_type=KIND, data=None, user=None):
    user = user or UserRef(user_uuid=uuid4(), client_user_id="mbr_1")
    return emit_event(
        tenant=tenant, user=user, event_type=event_type, data=data or {"id": "1"}
    )
