"""What every table's page in the operators' admin stands on.

The site and who may enter it: portal.ops.operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q
from unfold.admin import ModelAdmin

from portal.lib.actor import Actor, ActorKind

if TYPE_CHECKING:
    from django.http import HttpRequest

_STRUCTURE = (
    models.AutoField,
    models.BooleanField,
    models.DateTimeField,
    models.ForeignKey,
    models.UUIDField,
)
_MOST_COLUMNS = 6


def build_operator_actor(request: Any) -> Actor:
    """Return the operator of a request, as an actor for the audit log."""
    member = request.user
    return Actor(
        ActorKind.MEMBER,
        str(member.pk),
        member.email,
        request.META.get("REMOTE_ADDR") or None,
    )


def is_structural_field(field: models.Field[Any, Any]) -> bool:
    """Return whether a field says how rows hang together rather than what they hold.

    Text, numbers, dates of a life and documents may be health data or a secret.
    """
    return (
        field.primary_key or isinstance(field, _STRUCTURE) or field.choices is not None
    )


class ReadOnlyAdmin(ModelAdmin):
    """A table as operators see it: nothing to change, structure but no contents.

    A subclass names in `list_display` and `fields` what else may be seen, and in
    `search_ids` the columns that a whole uuid is looked up in, by their index. Who may
    come here at all is the site's matter, so that one rule holds for every table.
    Source: Ours: operators keep the service running; health data is the teams' own.
    """

    search_ids: ClassVar[tuple[str, ...]] = ()

    list_per_page = 50
    show_full_result_count = False  # it would count the whole table once more
    actions_list: ClassVar[list[Any]] = []

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        if tuple(self.list_display) != ("__str__",):
            return list(self.list_display)
        return [field.name for field in self._structure()][:_MOST_COLUMNS]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return list(self.fields or [field.name for field in self._structure()])

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if self.has_change_permission(request, obj):
            return list(self.readonly_fields)
        return self.get_fields(request, obj)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        related = [
            "tenant__team" if field.name == "tenant" else field.name
            for field in self.model._meta.fields
            if isinstance(field, models.ForeignKey)
        ]
        rows: models.QuerySet[Any] = super().get_queryset(request)
        return rows.select_related(*related) if related else rows

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        return [*self.search_fields, *self.search_ids]  # none: no search box

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Any], search_term: str
    ) -> tuple[models.QuerySet[Any], bool]:
        if not self.search_ids or not search_term.strip():
            found: tuple[models.QuerySet[Any], bool] = super().get_search_results(
                request, queryset, search_term
            )
            return found
        try:
            search_uuid = UUID(search_term.strip())
        except ValueError:
            return queryset.none(), False
        match = Q(
            *((column, search_uuid) for column in self.search_ids), _connector=Q.OR
        )
        return queryset.filter(match), False

    def get_object(self, request: Any, object_id: str, from_field: Any = None) -> Any:
        # The site writes into the audit what was opened.
        request.opened = super().get_object(request, object_id, from_field)
        return request.opened

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def _structure(self) -> list[models.Field[Any, Any]]:
        return [
            field for field in self.model._meta.fields if is_structural_field(field)
        ]
