"""CallWindow: the calls of a key or address in the current rate limit window."""

from __future__ import annotations

from django.db import models

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.translation import gettext_lazy

SUBJECT_MAX_LENGTH = 80


class CallWindow(models.Model):
    """The calls of one key or address since `started_at`.

    The table is unlogged: a crash of the server forgets it, and a count costs no write
    to disk. It belongs to no tenant: addresses are counted before a key is known.
    """

    rules = TableRules(
        without_tenant="counts addresses, before a key and its tenant are known",
        without_user="counts calls of keys and addresses",
        retention=RetentionRule("an hour", "accounts.forget_call_windows"),
    )

    subject = models.CharField(primary_key=True, max_length=SUBJECT_MAX_LENGTH)
    started_at = models.DateTimeField(db_index=False)
    calls = models.PositiveIntegerField()

    class Meta:
        verbose_name = gettext_lazy("rate limit window")
        verbose_name_plural = gettext_lazy("rate limit windows")

    def __str__(self) -> str:
        return f"{self.subject}: {self.calls}"
