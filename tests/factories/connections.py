"""Connections of lab accounts; hosts and people are made up."""

from __future__ import annotations

from typing import Any

from labs.models import Hl7Connection
from tests.factories.labs import make_lab_account


def make_hl7_connection(*, tenant: Any, account: Any = None, **fields: Any) -> Any:
    """A connection by MLLP without TLS on this machine, as it is stored."""
    if account is None:
        from tests.factories.labs import make_lab

        account = make_lab_account(tenant=tenant, lab=make_lab())
    connection = Hl7Connection(
        **{
            "tenant": tenant,
            "account": account,
            "transport": "mllp",
            "host": "127.0.0.1",
            "port": 2575,
            "is_unencrypted": True,
            **fields,
        }
    )
    connection.save(force_insert=True)
    return connection
