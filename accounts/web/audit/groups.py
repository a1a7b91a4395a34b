"""Group audit entries as a person would count them: "read 14 results of mbr_20418".

Must not be here: queries.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.queries.audit import READ
from accounts.web.audit.descriptions import (
    describe_audited_action,
    describe_audited_object,
    spell_out_code_name,
)
from portal.lib.actor import ActorKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from accounts.models import AuditEntry


# What one actor does again within this time belongs to what they did before.
PAUSE = timedelta(minutes=15)
# Subjects that a group names, most frequent first.
NAMED_SUBJECTS = 3


@dataclass(frozen=True, slots=True)
class AuditGroup:
    """Entries of one actor, newest first, without a pause of more than PAUSE.

    Of a person: reads of one user, reads of one kind of list, or one action at one
    user. Of a key or of the system: one action at one kind of thing, of any users.
    """

    entries: Sequence[AuditEntry]

    @property
    def last(self) -> AuditEntry:
        """Return the newest entry."""
        return self.entries[0]

    @property
    def first_at(self) -> datetime:
        """Return when the group began."""
        return self.entries[-1].at

    @property
    def day(self) -> date:
        """Return the day in the zone of the page."""
        return timezone.localdate(self.last.at)

    @property
    def user_uuids(self) -> list[UUID]:
        """Return the users concerned, each once, newest first."""
        return list(
            dict.fromkeys(each.user_uuid for each in self.entries if each.user_uuid)
        )

    @property
    def addresses(self) -> list[str]:
        """Return the IP addresses, each once, newest first."""
        return list(
            dict.fromkeys(each.address for each in self.entries if each.address)
        )

    @property
    def deed(self) -> str:
        """Return what was done: "read results, order"."""
        if len(self.entries) == 1 or self.last.verb != READ:
            return describe_audited_action(self.last.verb, self.last.subject)
        subjects = [
            spell_out_code_name(subject)
            for subject, _times in Counter(
                each.subject for each in self.entries
            ).most_common()
        ]
        named = subjects[:NAMED_SUBJECTS]
        if more := len(subjects) - len(named):
            named.append(ngettext("%d more kind", "%d more kinds", more) % more)
        return _("read %(what)s") % {"what": ", ".join(named)}

    @property
    def thing(self) -> str:
        """Return the object's ID where all entries have the same, else empty."""
        things = {describe_audited_object(each) for each in self.entries}
        return things.pop() if len(things) == 1 else ""


def group_audit_entries(entries: Iterable[AuditEntry]) -> list[AuditGroup]:
    """Return entries, newest first, in groups: the one with the newest entry first.

    What others do meanwhile does not end a group; midnight does. Source: Ours: five
    requests of one look at a user are one thing to whoever asks who looked.
    """
    groups: list[list[AuditEntry]] = []
    open_groups: dict[tuple[object, ...], list[AuditEntry]] = {}
    for entry in entries:
        key = (_build_key(entry), timezone.localdate(entry.at))
        group = open_groups.get(key)
        if group is None or group[-1].at - entry.at > PAUSE:
            group = open_groups[key] = []
            groups.append(group)
        group.append(entry)
    return [AuditGroup(each) for each in groups]


def _build_key(entry: AuditEntry) -> tuple[object, ...]:
    actor = (entry.actor_kind, entry.actor_key)
    if entry.actor_kind != ActorKind.MEMBER:
        return (*actor, entry.verb, entry.subject)
    if entry.verb != READ:
        return (*actor, entry.verb, entry.subject, entry.user_uuid)
    return (*actor, READ, entry.user_uuid or entry.subject)
