"""The demo data of the apps: what each writes for the fictional users.

Each app lists its own as `LOADERS` in `<app>/demo/loaders.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.lib.app_modules import import_declarations

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A fictional user of the demo data.

    The sources have sent nothing for `quiet_days`, mostly none; of some users there
    are `earlier_days` more, for what pages compare with.
    """

    user_uuid: UUID
    client_user_id: str
    sources: tuple[str, ...]
    time_zone: str | None
    birth_date: date | None
    quiet_days: int = 0
    earlier_days: int = 0


@dataclass(frozen=True, slots=True)
class DemoScene:
    """The tenant to write demo data for, the actor who writes it, and the users."""

    tenant: Tenant
    actor: Actor
    people: tuple[DemoPerson, ...]


def list_demo_loaders() -> list[Callable[[DemoScene], None]]:
    """Return the loaders of all apps, from the highest app down, in each app's order.

    Each adds its part to the users where it is missing. It runs in a job and may run
    twice.
    """
    return [
        load
        for loaders in import_declarations("demo.loaders", "LOADERS").values()
        for load in loaders
    ]
