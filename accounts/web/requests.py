"""The request that every page of a team receives, and its member's rights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from accounts.states import Area, roles_allow_access
from portal.lib.web.views import HtmxRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Member, Tenant
    from accounts.states import Role
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class Rights:
    """A member's roles in an environment; templates use `reads` and `writes`."""

    roles: frozenset[str]
    environment: str

    def allow(self, area: Area, *, write: bool = False) -> bool:
        """Return whether the member may read, or `write`, in this area."""
        return roles_allow_access(
            roles=self.roles, area=area, write=write, environment=self.environment
        )

    @property
    def reads(self) -> frozenset[str]:
        """Return the areas that may be read."""
        return _list_open_areas(self, write=False)

    @property
    def writes(self) -> frozenset[str]:
        """Return the areas that may be written."""
        return _list_open_areas(self, write=True)


@lru_cache(maxsize=256)
def _list_open_areas(rights: Rights, *, write: bool) -> frozenset[str]:
    """List the areas once for all members of these roles: each row of a list asks."""
    return frozenset(area.value for area in Area if rights.allow(area, write=write))


class TenantRequest(HtmxRequest):
    """A request below /t/<team>/<environment>/, as TenantMiddleware passes it on."""

    member: Member
    tenant: Tenant
    rights: Rights
    viewing_as: Role | None
    actor: Actor
    places: Sequence[Tenant]
