"""Operators' page of events. What an event says stays with its team."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models.functions import Length

from accounts.webhooks.models import Event
from portal.lib.admin import ReadOnlyAdmin
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """Which event, when and how large; never its body."""

    list_display = ("message_id", "event_type", "tenant", "created_at")
    list_filter = ("tenant__environment", "created_at")
    search_ids = ("user_uuid",)
    search_help_text = gettext_lazy("Enter a full user ID.")
    ordering = ("-id",)
    fields = ("message_id", "event_type", "tenant", "user_uuid", "created_at", "bytes")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        measured: QuerySet[Any] = rows.defer("body").annotate(
            body_length=Length("body")
        )
        return measured

    @admin.display(description=gettext_lazy("Body size (characters)"))
    def bytes(self, event: Any) -> int:
        return int(event.body_length)
