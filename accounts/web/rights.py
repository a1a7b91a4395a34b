"""The decorator that checks the rights of a request's member.

The matrix itself is accounts.states.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http.response import HttpResponseBase

    from accounts.states import Area
    from accounts.web.requests import TenantRequest

    View = Callable[..., HttpResponseBase]


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
