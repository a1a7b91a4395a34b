"""The data map: tables with rows about users, their lookups and retention.

Read from the models, so that a new table is on it by existing; what models can't tell
is in portal.lib.registry (erasure_rules, retention_rules, data_classes).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import DateField, Q

from portal.lib.registry import (
    ErasureRule,
    RetentionRule,
    data_classes,
    erasure_rules,
    retention_rules,
)
from users.models import User

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet


@dataclass(frozen=True, slots=True)
class MappedTable:
    """A table with rows about users; `why` is the reason if they outlive the user."""

    model: type[Model]
    lookups: tuple[str, ...]
    by_key: bool
    why: str

    @property
    def label(self) -> str:
        """The model's label, such as "labs.Order"."""
        return self.model._meta.label

    def rows_of(self, user: User) -> QuerySet[Any]:
        """Return the rows about one user, unordered."""
        value = user.pk if self.by_key else user.uuid
        asked = Q()
        for lookup in self.lookups:
            asked |= Q(**{lookup: value})
        rows: QuerySet[Any] = self.model._base_manager.filter(asked)
        # By several ways, or through many rows, one may be found twice.
        return rows.distinct() if len(self.lookups) > 1 else rows


def list_tables_with_user_data() -> list[MappedTable]:
    """Return every table with rows about users, by label."""
    rules = dict(erasure_rules)
    found = []
    for model in apps.get_models():
        rule = rules.get(model._meta.label) or _erasure_rule_by_keys(model)
        if rule and rule.lookups:
            found.append(MappedTable(model, rule.lookups, rule.by_key, rule.why))
    return sorted(found, key=lambda each: each.label)


def list_tables_without_erasure_rule() -> list[str]:
    """List tables without an erasure rule: each may contain personal data."""
    rules = dict(erasure_rules)
    return sorted(
        model._meta.label
        for model in apps.get_models(include_auto_created=True)
        if model._meta.label not in rules and _erasure_rule_by_keys(model) is None
    )


def list_retention_rules() -> dict[str, RetentionRule | str]:
    """Return the retention rule of each table with times, or why there is none.

    An empty text where nobody said it.
    """
    said = dict(retention_rules)
    for _, each in data_classes:
        rule = RetentionRule(
            f"as the team's rule for {each.title} says",
            "accounts.apply_retention" if each.remove else each.removed_by,
        )
        said.update(dict.fromkeys(each.tables, rule))
    return {
        label: said.get(label, "")
        for label in sorted(
            model._meta.label
            for model in apps.get_models(include_auto_created=True)
            # A DateTimeField is one too.
            if any(isinstance(each, DateField) for each in model._meta.concrete_fields)
        )
    }


def _erasure_rule_by_keys(model: type[Model]) -> ErasureRule | None:
    """Return the rule of the shortest foreign key path to a user; None without one."""
    seen: set[type[Model]] = {model}
    ahead: deque[tuple[type[Model], tuple[str, ...]]] = deque([(model, ())])
    while ahead:
        here, way = ahead.popleft()
        if here is User:
            return ErasureRule(("__".join((*way, "uuid")),))
        for field in here._meta.concrete_fields:
            to: Any = field.related_model
            if isinstance(to, type) and to not in seen:
                seen.add(to)
                ahead.append((to, (*way, field.name)))
    return None
