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
_MOST_FILTERS = 4


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
    `search_ids` the columns that a whole uuid is looked up in, by their index. One that
    names neither search nor filters finds rows by their whole ID, that of their user or
    the name of their team, and filters by what has few values. Who may come here at
    all is the site's matter, so that one rule holds for every table.
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
            # A tenant's name is its team's.
            f"{field.name}__team"
            if field.related_model._meta.label == "accounts.Tenant"
            else field.name
            for field in self.model._meta.fields
            if isinstance(field, models.ForeignKey)
        ]
        rows: models.QuerySet[Any] = super().get_queryset(request)
        return rows.select_related(*related) if related else rows

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        if self.list_filter:
            return list(self.list_filter)
        few = [
            field.name
            for field in self._structure()
            if field.choices is not None or isinstance(field, models.BooleanField)
        ]
        environment = ["tenant__environment"] if self._has_tenant() else []
        return [*environment, *few[:_MOST_FILTERS]]

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        teams = ["tenant__team__name"] if self._finds_teams() else []
        found = [*self.search_fields, *self._id_columns(), *teams]
        key = self.model._meta.pk
        return found or ([key.name] if isinstance(key, models.IntegerField) else [])

    def get_search_results(
        self, request: HttpRequest, queryset: models.QuerySet[Any], search_term: str
    ) -> tuple[models.QuerySet[Any], bool]:
        term = search_term.strip()
        if not term or (self.search_fields and not self.search_ids):
            found: tuple[models.QuerySet[Any], bool] = super().get_search_results(
                request, queryset, search_term
            )
            return found
        try:
            search_uuid = UUID(term)
        except ValueError:
            if term.isdecimal() and isinstance(
                self.model._meta.pk, models.IntegerField
            ):
                return queryset.filter(pk=int(term)), False
            if not self._finds_teams():
                return queryset.none(), False
            # Few teams first, so that a large table is read by its tenant's index.
            tenants = self.model._meta.get_field("tenant").related_model
            named = tenants.objects.filter(team__name__icontains=term)
            chosen = list(named.values_list("pk", flat=True))
            return queryset.filter(tenant__in=chosen), False
        columns = self._id_columns()
        match = Q(*((column, search_uuid) for column in columns), _connector=Q.OR)
        return queryset.filter(match) if columns else queryset.none(), False

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

    def _has_tenant(self) -> bool:
        return any(field.name == "tenant" for field in self.model._meta.fields)

    def _finds_teams(self) -> bool:
        return self._has_tenant() and not self.search_fields and not self.search_ids

    def _id_columns(self) -> tuple[str, ...]:
        """Return the columns of uuids to look up: those named, else indexed ones."""
        if self.search_ids or self.search_fields:
            return self.search_ids
        found = []
        for field in self.model._meta.fields:
            key = field.related_model._meta.pk if field.is_relation else field
            if isinstance(key, models.UUIDField) and _is_indexed(field):
                found.append(field.name)
            elif field.is_relation and field.related_model._meta.label == "users.User":
                found.append(f"{field.name}__uuid")
        return tuple(found)

    def _structure(self) -> list[models.Field[Any, Any]]:
        return [
            field for field in self.model._meta.fields if is_structural_field(field)
        ]


def _is_indexed(field: models.Field[Any, Any]) -> bool:
    return field.primary_key or field.unique or getattr(field, "db_index", False)
