"""Connections of cloud sources, with their tokens."""

from __future__ import annotations

from typing import Any

from tests.factories.accounts import ACTOR
from users.gateways.base import Grant
from users.models import Connection
from users.operations.sources.grants import store_connection_tokens
from users.operations.sources.sources import connect_source

ALL_SCOPES = (
    "extapi:personal",
    "extapi:daily",
    "extapi:heartrate",
    "extapi:workout",
    "extapi:session",
    "extapi:tag",
    "extapi:spo2",
)


def make_grant(**wanted: Any) -> Grant:
    """The tokens that the server of tests takes."""
    return Grant(
        **{
            "access_token": "access-1",
            "refresh_token": "refresh-1",
            "scopes": ALL_SCOPES,
            **wanted,
        }
    )


def make_granted(user: Any, **wanted: Any) -> Connection:
    """A user's Oura, connected by a grant; nothing is asked of it yet."""
    connection = connect_source(user=user, actor=ACTOR, provider="oura")
    connection.user = user
    store_connection_tokens(connection=connection, grant=make_grant(**wanted))
    return connection
