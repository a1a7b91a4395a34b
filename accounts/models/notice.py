"""Notices about events, the members who receive them and the mails that carry them.

None names a user or holds health data.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from accounts.models.member import Member
from accounts.models.team import Membership
from accounts.states import NoticeKind
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

DIGEST_HOUR = 8
WORDS_MAX_LENGTH = 200


class NoticeChoices(TenantOwned):
    """A member's notification settings in one environment; no row: the defaults.

    `levels` maps a NoticeKind to a NoticeLevel, without those left as usual. Hours are
    of the member's zone: nothing that can wait is mailed from `quiet_from` until
    before `quiet_until`, which may lie past midnight; both None: no such hours. Digests
    come at `digest_hour` o'clock.
    """

    rules = TableRules(
        without_fence="what a member wants mailed", without_user="notices name no user"
    )

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="+"
    )
    levels = models.JSONField(default=dict)
    quiet_from = models.TimeField(null=True, blank=True)
    quiet_until = models.TimeField(null=True, blank=True)
    digest_hour = models.PositiveSmallIntegerField(default=DIGEST_HOUR)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("notification settings")
        verbose_name_plural = gettext_lazy("notification settings")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "membership"], name="notice_choices_once"
            ),
            models.CheckConstraint(
                condition=models.Q(quiet_from=None, quiet_until=None)
                | models.Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="notice_choices_quiet_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"choices of {self.membership_id}"


class Notice(TenantOwned):
    """An event, unique by `key` within its kind.

    `words` is an English sentence that names no user, `sentence` the same for other
    languages (`portal.lib.sentences`); `path` is the page that tells more. One
    that `is_late` says that something has waited too long. With `only_for` it is of
    that member alone.
    """

    rules = TableRules(
        without_fence="what happened, in words that name nobody",
        without_user="notices name no user",
        retention=RetentionRule(
            "35 days after it was recorded", "accounts.forget_notices"
        ),
    )

    kind = models.CharField(max_length=30, choices=NoticeKind.choices)
    key = models.CharField(max_length=100)
    sentence = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    words = models.CharField(max_length=WORDS_MAX_LENGTH)
    path = models.CharField(max_length=300)
    is_late = models.BooleanField(default=False)
    only_for = models.ForeignKey(
        Member,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
    )
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("notice")
        verbose_name_plural = gettext_lazy("notices")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "key"], name="notice_once"
            )
        ]
        indexes = [models.Index(fields=["tenant", "at"], name="notice_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class NoticeMail(TenantOwned):
    """A mail with notices to one member; `day` of a digest is the local date.

    `sent_at` None: it waits for its job.
    """

    rules = TableRules(
        without_fence="as accounts.Notice",
        without_user="notices name no user",
        retention=RetentionRule(
            "35 days after it was recorded", "accounts.forget_notices"
        ),
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="+"
    )
    day = models.DateField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("notice email")
        verbose_name_plural = gettext_lazy("notice emails")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "membership", "day"],
                condition=models.Q(day__isnull=False),
                name="notice_digest_once_a_day",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class NoticeCopy(TenantOwned):
    """A notice waiting for one member's mail, or sent with it.

    It is due at `due_at`, with the digest if `by_digest`.
    """

    rules = TableRules(
        without_fence="as accounts.Notice",
        without_user="notices name no user",
        retention=RetentionRule(
            "35 days after it was recorded", "accounts.forget_notices"
        ),
    )

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="copies")
    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="+"
    )
    due_at = models.DateTimeField()
    by_digest = models.BooleanField()
    mail = models.ForeignKey(
        NoticeMail, on_delete=models.CASCADE, null=True, related_name="copies"
    )

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("notice recipient")
        verbose_name_plural = gettext_lazy("notice recipients")
        constraints = [
            models.UniqueConstraint(
                fields=["notice", "membership"], name="notice_copy_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(mail=None),
                name="notice_copy_due",
            )
        ]

    def __str__(self) -> str:
        return f"copy of {self.notice_id}"
