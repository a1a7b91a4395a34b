"""Read a batch by its form: who sends which shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from users.wearables.phones.health_auto_export import read_health_auto_export_batch
from users.wearables.phones.health_connect import read_health_connect_batch
from users.wearables.phones.open_wearables import read_open_wearables_batch
from users.wearables.phones.own import read_own_batch
from users.wearables.readings import build_batch_parsing_context

if TYPE_CHECKING:
    from datetime import datetime

    from users.models import User
    from users.wearables.phones.records import ReadBatch

OPEN_WEARABLES = "open_wearables"
HEALTH_AUTO_EXPORT = "health_auto_export"
HEALTH_CONNECT = "health_connect"
OWN = "own"


def read_upload(
    *, user: User, form: str, body: dict[str, Any], at: datetime
) -> ReadBatch:
    """Read a batch that came `at`; nothing in it can fail it.

    `form` is a shape and, after a colon, what its body does not say: the aggregation of
    Health Auto Export, the type of Health Connect's records, the provider of our own.
    Raises: KeyError, for a form or provider that the door should have refused.
    """
    shape, _colon, more = form.partition(":")
    context = build_batch_parsing_context(user=user, provider="", now=at)
    match shape:
        case "open_wearables":
            return read_open_wearables_batch(body, context)
        case "health_auto_export":
            return read_health_auto_export_batch(body, context, more)
        case "health_connect":
            return read_health_connect_batch(body, context, more)
        case "own":
            return read_own_batch(body, context, more)
        case _:
            raise KeyError(shape)
