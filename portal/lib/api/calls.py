"""What is said of a call without making it: its path's template, and areas it needs.

Without DRF's views, whose import needs the authentication that imports this.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rest_framework.permissions import SAFE_METHODS

if TYPE_CHECKING:
    from portal.lib.api.views import KeyedAPIView

_PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)")


@lru_cache(maxsize=1024)
def find_path_template(route: str) -> str:
    """Return a template such as /v2/user/{user_id} of a mounted view's pattern."""
    named = _PARAMETER.sub(r"{\1}", route)
    template = named.replace("^", "").removesuffix("$").removesuffix("/?")
    return "/" + template.replace("\\", "")


def list_areas_needed_by_call(
    view: KeyedAPIView | type[KeyedAPIView], method: str
) -> list[tuple[Any, bool]]:
    """Return the areas a call needs, each with whether it writes there."""
    write = method not in SAFE_METHODS and method not in view.reading
    area = view.area_by_method.get(method, view.area)
    return [(area, write), *((also, False) for also in view.also_reads)]
