"""`manage.py data_map`: print the tables with data about users, and their rules."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from portal.lib.table_rules import RetentionRule, list_table_rules
from users.queries.users.data_map import (
    list_retention_rules,
    list_tables_with_user_data,
    list_tables_without_erasure_rule,
)


class Command(BaseCommand):
    """Print the data map of the installed models as Markdown."""

    help = (
        "Print the tables with data about users, the effect of an erasure on them, and"
        " the retention of their rows."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print four tables: user data, other tables, retention and encryption."""
        mapped = list_tables_with_user_data()
        self._table(
            ("Table", "Lookup of a user's rows", "When the user is erased"),
            [
                (
                    table.label,
                    ", ".join(table.lookups),
                    f"kept: {table.why}" if table.why else "deleted",
                )
                for table in mapped
            ],
        )
        declared = [(model._meta.label, rules) for model, rules in list_table_rules()]
        self._table(
            ("Table", "No data about a user, because it is"),
            [
                (label, rules.without_user)
                for label, rules in declared
                if rules.without_user
            ],
        )
        self._table(
            ("Table with times", "Retention", "Job"),
            [
                (label, end.after, end.job)
                if isinstance(end, RetentionRule)
                else (label, end, "")
                for label, end in list_retention_rules().items()
            ],
        )
        self._table(
            ("Table", "Encrypted columns"),
            [
                (label, ", ".join([*rules.encrypted, *rules.encrypted_members]))
                for label, rules in declared
                if rules.encrypted or rules.encrypted_members
            ],
        )
        for label in list_tables_without_erasure_rule():
            self.stderr.write(f"{label}: no erasure rule registered")

    def _table(self, head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        for row in (head, ("---",) * len(head), *rows):
            self.stdout.write(f"| {' | '.join(row)} |")
        self.stdout.write("")
