"""Test clients: the API with a key, and the dashboard signed in."""

from __future__ import annotations

import time
from typing import Any

from allauth.account.internal.flows.login import (
    _AUTHENTICATION_METHODS_USER_SESSION_KEY as OF_MEMBER,
)
from allauth.account.internal.flows.login import (
    AUTHENTICATION_METHODS_SESSION_KEY as METHODS,
)
from django.contrib.auth import SESSION_KEY
from django.test import Client

JSON = "application/json"


class ApiClient(Client):
    """Calls the API with a key; bodies are JSON unless a content type is given."""

    def __init__(self, key: str | None = None) -> None:
        headers = {"x-service-api-key": key} if key else {}
        super().__init__(headers=headers, raise_request_exception=True)

    def post(
        self, path: str, data: Any = None, content_type: str = JSON, **extra: Any
    ) -> Any:
        return super().post(path, {} if data is None else data, content_type, **extra)

    def patch(
        self, path: str, data: Any = None, content_type: str = JSON, **extra: Any
    ) -> Any:
        return super().patch(path, {} if data is None else data, content_type, **extra)


class ManagementClient(ApiClient):
    """Calls the management API with a management key."""

    def __init__(self, key: str | None = None) -> None:
        super().__init__()
        if key:
            self.defaults["HTTP_X_MANAGEMENT_KEY"] = key

    def put(
        self, path: str, data: Any = None, content_type: str = JSON, **extra: Any
    ) -> Any:
        return super().put(path, {} if data is None else data, content_type, **extra)


def confirm(client: Client, method: str = "password") -> None:
    """Let a signed-in client's session have proved who it is just now."""
    session = client.session
    session[METHODS] = [{"method": method, "at": time.time()}]
    session[OF_MEMBER] = session[SESSION_KEY]
    session.save()


def error_lines(reply: Any) -> list[tuple[list[str | int], str]]:
    """The (loc, type) pairs of a 422."""
    assert reply.status_code == 422, reply.content
    return [(line["loc"], line["type"]) for line in reply.json()["detail"]]
