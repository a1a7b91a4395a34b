"""MailText: a team's own wording of one kind of mail in one language."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.languages import LANGUAGE_MAX_LENGTH
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

KIND_MAX_LENGTH = 40
# Ours: mail programs show some 70 characters of a subject.
SUBJECT_MAX_LENGTH = 150
BODY_MAX_LENGTH = 4000


class MailText(TenantOwned):
    """The wording of a mail; without a row it is Assay's in that language.

    `kind` is a name of accounts.declarations.mails. Placeholders stand in braces, such
    as `{company}`; an empty line parts paragraphs.
    """

    rules = TableRules(
        without_user="wording that a team chose",
        retention="until the team resets it",
        route_parameters={"mail_kind": "kind", "mail_language": "language"},
    )

    kind = models.CharField(max_length=KIND_MAX_LENGTH)
    language = models.CharField(max_length=LANGUAGE_MAX_LENGTH)
    subject = models.CharField(max_length=SUBJECT_MAX_LENGTH)
    body = models.TextField()
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("email text")
        verbose_name_plural = gettext_lazy("email texts")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "language"], name="mail_text_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.language}"
