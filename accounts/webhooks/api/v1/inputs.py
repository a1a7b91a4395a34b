"""Validate request bodies and queries about endpoints (contract 8.7)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.webhooks.models.endpoint import (
    DESCRIPTION_MAX_LENGTH,
    EVENT_TYPE_MAX_LENGTH,
    URL_MAX_LENGTH,
)
from accounts.webhooks.operations.endpoints import (
    FILTER_TYPES_MAX,
    HEADER_VALUE_MAX_LENGTH,
    RATE_LIMIT_MAX,
)
from portal.lib.api.fields import Bool, Inputs, Int, QueryInt, Str
from portal.lib.api.pagination import CursorInputs

LIMIT_DEFAULT, LIMIT_MAX = 50, 100


class WebhookListQuery(CursorInputs):
    """`next_cursor` and `limit` (default 50, 1 to 100)."""

    limit = QueryInt(default=LIMIT_DEFAULT, min_value=1, max_value=LIMIT_MAX)


class FilterTypes(serializers.ListField):
    """Event types, and prefixes that end in a dot; an empty list asks for nothing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=Str(max_length=EVENT_TYPE_MAX_LENGTH),
            allow_empty=False,
            max_length=FILTER_TYPES_MAX,
            **options,
        )


class WebhookInputs(Inputs):
    """A new endpoint."""

    url = Str(max_length=URL_MAX_LENGTH)
    description = Str(
        required=False, allow_blank=True, max_length=DESCRIPTION_MAX_LENGTH
    )
    rate_limit = Int(required=False, min_value=1, max_value=RATE_LIMIT_MAX)
    disabled = Bool(required=False)
    filter_types = FilterTypes(required=False)
    secret = Str(required=False)


class WebhookPatch(Inputs):
    """What changes of an endpoint; null takes a limit or filter away."""

    url = Str(max_length=URL_MAX_LENGTH)
    description = Str(
        allow_blank=True, allow_null=True, max_length=DESCRIPTION_MAX_LENGTH
    )
    rate_limit = Int(allow_null=True, min_value=1, max_value=RATE_LIMIT_MAX)
    disabled = Bool()
    filter_types = FilterTypes(allow_null=True)


class HeadersInputs(Inputs):
    """All the custom headers of an endpoint, by name."""

    headers = serializers.DictField(
        child=Str(allow_blank=True, max_length=HEADER_VALUE_MAX_LENGTH)
    )


class RotateInputs(Inputs):
    """`key`, the new secret; without it one is made."""

    key = Str(required=False)


class TestInputs(Inputs):
    """`event_type`; without it, one that the endpoint takes."""

    event_type = Str(required=False, max_length=EVENT_TYPE_MAX_LENGTH)
