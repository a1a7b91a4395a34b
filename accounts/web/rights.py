"""The rights of a request's member, and the decorator that checks them.

The matrix itself is accounts.states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied

from accounts.states import Area, roles_allow_access

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http.response import HttpResponseBase

    from portal.lib.web.views import TenantRequest

    View = Callable[..., HttpResponseBase]


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
        return frozenset(area.value for area in Area if self.allow(area))

    @property
    def writes(self) -> frozenset[str]:
        """Return the areas that may be written."""
        return frozenset(area.value for area in Area if self.allow(area, write=True))


def require_right(area: Area, *, write: bool = False) -> Callable[[View], View]:
    """Refuse a view with 403 to members without this right.

    The view's `needs` are all its rights, as (area, is it writing).
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(
            request: TenantRequest, /, *args: str, **kwargs: str
        ) -> HttpResponseBase:
            if not request.rights.allow(area, write=write):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        needs = (*getattr(view, "needs", ()), (area, write))
        guarded.needs = needs  # type: ignore[attr-defined]  # read by who asks for it
        return guarded

    return decorate
