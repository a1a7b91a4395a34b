"""What a refused operation must leave as it was."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest

from accounts.models import AuditEntry
from accounts.webhooks.models import Event
from labs.models import (
    LabAccount,
    LabTest,
    Order,
    OrderEvent,
    OrderTransaction,
    Result,
    ResultVersion,
)
from portal.lib.errors import DomainError
from tests.jobs import queued


def holdings(tenant: Any) -> list[Any]:
    """Rows and columns of a tenant's orders, and what was told and recorded."""
    counted = (
        OrderTransaction,
        OrderEvent,
        LabTest,
        ResultVersion,
        Result,
        Event,
    )
    lines = AuditEntry.objects.for_tenant(tenant)
    return [
        *Order.objects.for_tenant(tenant).order_by("pk").values(),
        *LabAccount.objects.of_organisation(tenant).order_by("pk").values(),
        *(model.objects.for_tenant(tenant).count() for model in counted),
        lines.exclude(verb="read").count(),  # a page that refuses was read all the same
        len(queued()),
    ]


@contextmanager
def refused(tenant: Any, code: str):
    """Expect a refusal by this code that writes and tells nothing."""
    before = holdings(tenant)
    with pytest.raises(DomainError) as caught:
        yield caught
    assert caught.value.code == code
    assert holdings(tenant) == before
