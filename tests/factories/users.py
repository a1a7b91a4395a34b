"""End users for tests."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.factories.accounts import ACTOR
from users.models import User
from users.operations.users import UserRequest, create_user

_numbers = count(1)


def make_user(*, tenant: Any, **wanted: Any) -> User:
    wanted.setdefault("client_user_id", f"user-{next(_numbers)}")
    return create_user(tenant=tenant, actor=ACTOR, wanted=UserRequest(**wanted))
