"""End users for tests."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.factories.accounts import ACTOR
from users.models import Arrival, User
from users.operations.sources.cadences import update_usual_data_intervals
from users.operations.users.users import UserRequest, create_user

if TYPE_CHECKING:
    from datetime import datetime

_numbers = count(1)


def make_user(*, tenant: Any, **wanted: Any) -> User:
    wanted.setdefault("client_user_id", f"user-{next(_numbers)}")
    return create_user(tenant=tenant, actor=ACTOR, request=UserRequest(**wanted))


def make_batch_arrival(
    user: User, provider: str, at: datetime, received: int = 1
) -> None:
    """A batch of nights that arrived from a source."""
    Arrival(
        tenant=user.tenant,
        user=user,
        provider=provider,
        resource="sleep_cycle",
        at=at,
        received=received,
        created=0,
        updated=0,
        dropped=0,
    ).save(force_insert=True)


def make_new_nights(
    user: User, provider: str, at: datetime, *, created: int = 1
) -> None:
    """A batch that brought `created` nights that are new."""
    Arrival(
        tenant=user.tenant,
        user=user,
        provider=provider,
        resource="sleep_cycle",
        at=at,
        received=1,
        created=created,
        updated=0,
        dropped=0,
    ).save(force_insert=True)


def make_regular_arrivals(user: User, provider: str, until: datetime) -> None:
    """Five days of news, the last at `until`, and what is learnt of them."""
    for ago in range(5):
        make_new_nights(user, provider, until - timedelta(days=ago))
    update_usual_data_intervals(tenant=user.tenant, user_key=user.pk)
