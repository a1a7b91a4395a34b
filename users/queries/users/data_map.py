"""The data map: tables with rows about users, their lookups and retention.

Read from the models and their rules (portal.lib.table_rules), so that a new table is
on it by existing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import DateField, Q

from accounts.declarations.data_classes import load_data_classes
from portal.lib.table_rules import (
    ErasureRule,
    RetentionRule,
    TableRules,
    list_table_rules,
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
        condition = Q()
        for lookup in self.lookups:
            condition |= Q(**{lookup: value})
        rows: QuerySet[Any] = self.model._base_manager.filter(condition)
        # By several ways, or through many rows, one may be found twice.
        return rows.distinct() if len(self.lookups) > 1 else rows


def list_tables_with_user_data() -> list[MappedTable]:
    """Return every table with rows about users, by label."""
    return [
        MappedTable(model, rule.lookups, rule.by_key, rule.why)
        for model, rules in list_table_rules()
        if not model._meta.auto_created and (rule := _erasure_rule(model, rules))
    ]


def list_tables_without_erasure_rule() -> list[str]:
    """List tables without an erasure rule: each may contain personal data."""
    return [
        model._meta.label
        for model, rules in list_table_rules()
        if not rules.without_user and _erasure_rule(model, rules) is None
    ]


def list_retention_rules() -> dict[str, RetentionRule | str]:
    """Return the retention rule of each table with times, or why there is none.

    An empty text where nobody said it.
    """
    by_class = {
        name: RetentionRule(
            f"as the team's rule for {each.title} says",
            "accounts.apply_retention" if each.remove else each.removed_by,
        )
        for name, each in load_data_classes().items()
    }
    return {
        model._meta.label: (
            by_class[max(rules.data_classes)] if rules.data_classes else rules.retention
        )
        for model, rules in list_table_rules()
        # A DateTimeField is one too.
        if any(isinstance(each, DateField) for each in model._meta.concrete_fields)
    }


def _erasure_rule(model: type[Model], rules: TableRules) -> ErasureRule | None:
    """Return the table's rule, by default that of the shortest foreign key path.

    None where no rows are about a user, or nobody knows.
    """
    if rules.erasure or rules.without_user:
        return rules.erasure
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
