"""Functions that are called for each call of the API when it is answered.

Each takes the request with its key, the status, the error code of a refusal, and when
the request came (seconds of time.time). They must be quick and never raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request

call_observers: list[Callable[[Request, int, str, float], None]] = []
