"""The OpenAPI document: which paths it holds.

Must not be here: the shape of an answer (each app's outputs).
"""

from __future__ import annotations

from typing import Any

from django.conf import settings

Endpoint = tuple[str, str, str, Any]


def keep_api_paths(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Keep the API proper, each path in its form without the slash at the end."""
    return [
        (path.rstrip("/"), regex, method, view)
        for path, regex, method, view in endpoints
        if path.startswith(settings.API_PREFIXES)
    ]
