"""Find who receives which notices when, and preview last week's mails."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

from accounts.models import Notice, NoticeChoices
from accounts.models.notice import DIGEST_HOUR
from accounts.queries import list_team_members
from accounts.states import (
    ADMINISTERS,
    Area,
    NoticeKind,
    NoticeLevel,
    get_default_notice_level,
    may_receive_notice,
    notice_ignores_quiet_hours,
    roles_allow_access,
)
from portal.lib.periods import (
    SkippedTime,
    convert_local_time_to_utc,
    find_time_zone_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from accounts.models import Membership, Tenant

PREVIEW = timedelta(days=7)
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class NoticePreferences:
    """A member's notification settings: a level per kind, quiet and digest hours.

    `quiet` is from when until before when, None for no such hours.
    """

    levels: Mapping[NoticeKind, NoticeLevel]
    quiet: tuple[time, time] | None = None
    digest_hour: int = DIGEST_HOUR


@dataclass(frozen=True, slots=True)
class Recipient:
    """A member of a team with their settings; `zone` is theirs or the team's."""

    membership: Membership
    preferences: NoticePreferences
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class MailTime:
    """When a notice is mailed to a member, and whether in the digest."""

    due_at: datetime
    by_digest: bool


@dataclass(frozen=True, slots=True)
class PreviewMail:
    """A mail of the preview; `was_held` means it waited for quiet hours to end."""

    at: datetime
    is_digest: bool
    was_held: bool
    notices: tuple[Notice, ...]


def get_default_notice_levels(
    *, roles: Sequence[str], environment: str
) -> dict[NoticeKind, NoticeLevel]:
    """Return the default levels of members with these roles."""
    return {
        kind: get_default_notice_level(roles=roles, kind=kind, environment=environment)
        for kind in NoticeKind
        if may_receive_notice(roles=roles, kind=kind, environment=environment)
    }


def list_team_notice_recipients(tenant: Tenant) -> list[Recipient]:
    """Return the active members of a team with their settings; two queries."""
    chosen: dict[int, NoticeChoices] = {
        each.membership_id: each for each in NoticeChoices.objects.for_tenant(tenant)
    }
    return [
        build_notice_recipient(
            tenant=tenant, membership=each, choices=chosen.get(each.pk)
        )
        for each in list_team_members(tenant.team)
        if each.member.is_active
    ]


def find_notice_settings(
    *, tenant: Tenant, membership: Membership
) -> NoticeChoices | None:
    """Return a member's stored settings in one environment, if any."""
    chosen = NoticeChoices.objects.for_tenant(tenant)
    found: NoticeChoices | None = chosen.filter(membership=membership).first()
    return found


def build_notice_recipient(
    *, tenant: Tenant, membership: Membership, choices: NoticeChoices | None
) -> Recipient:
    """Build a recipient, with defaults where the member chose nothing.

    A kind that their roles do not let them hear of is absent, whatever they chose.
    """
    levels = get_default_notice_levels(
        roles=membership.roles, environment=tenant.environment
    )
    quiet = None
    digest_hour = DIGEST_HOUR
    if choices is not None:
        for kind, level in choices.levels.items():
            if kind in levels:
                levels[NoticeKind(kind)] = NoticeLevel(level)
        if choices.quiet_from is not None and choices.quiet_until is not None:
            quiet = (choices.quiet_from, choices.quiet_until)
        digest_hour = choices.digest_hour
    zone = find_time_zone_by_name(membership.member.time_zone or tenant.team.time_zone)
    return Recipient(membership, NoticePreferences(levels, quiet, digest_hour), zone)


def list_recipients_of_notice(
    recipients: Sequence[Recipient], *, tenant: Tenant, notice: Notice
) -> list[tuple[Recipient, NoticeLevel]]:
    """Return the recipients of a notice with the level that applies.

    A critical result that has waited too long reaches those who may acknowledge it, or
    owners and admins, if nobody wants to know at once. Source: Ours: settings of many
    members must not add up to silence.
    """
    notified: list[tuple[Recipient, NoticeLevel]] = []
    for each in recipients:
        if notice.only_for_id not in (None, each.membership.member_id):
            continue
        level = each.preferences.levels.get(NoticeKind(notice.kind), NoticeLevel.OFF)
        if level == NoticeLevel.LATE and notice.is_late:
            level = NoticeLevel.AT_ONCE
        if level in {NoticeLevel.AT_ONCE, NoticeLevel.DAILY}:
            notified.append((each, level))
    if notice.kind != NoticeKind.CRITICAL_RESULT or not notice.is_late:
        return notified
    if any(level == NoticeLevel.AT_ONCE for _, level in notified):
        return notified
    able = [
        each
        for each in recipients
        if roles_allow_access(
            roles=each.membership.roles,
            area=Area.SIGN_REPORTS,
            write=True,
            environment=tenant.environment,
        )
    ] or [each for each in recipients if ADMINISTERS & {*each.membership.roles}]
    called = {each.membership.pk for each in able}
    others = [
        (each, level) for each, level in notified if each.membership.pk not in called
    ]
    return [*((each, NoticeLevel.AT_ONCE) for each in able), *others]


def compute_notice_mail_time(
    *, recipient: Recipient, level: NoticeLevel, notice: Notice, pierces: bool
) -> MailTime:
    """Return when a notice of this level is mailed to a member.

    At once is `notice.at`, or the end of quiet hours unless it `pierces` them; daily is
    the next digest, or the end of quiet hours it would fall into.
    """
    preferences = recipient.preferences
    if level == NoticeLevel.DAILY:
        at = compute_next_digest_time(
            after=notice.at, hour=preferences.digest_hour, zone=recipient.zone
        )
        return MailTime(
            compute_end_of_quiet_hours(
                at=at, quiet=preferences.quiet, zone=recipient.zone
            ),
            True,
        )
    if pierces:
        return MailTime(notice.at, False)
    return MailTime(
        compute_end_of_quiet_hours(
            at=notice.at, quiet=preferences.quiet, zone=recipient.zone
        ),
        False,
    )


def compute_next_digest_time(*, after: datetime, hour: int, zone: tzinfo) -> datetime:
    """Return the first `hour` o'clock in a zone after a moment, in UTC."""
    day = after.astimezone(zone).date()
    while (at := _local_to_utc(datetime.combine(day, time(hour)), zone)) <= after:
        day += _DAY
    return at


def compute_end_of_quiet_hours(
    *, at: datetime, quiet: tuple[time, time] | None, zone: tzinfo
) -> datetime:
    """Return the end of the quiet hours around a moment, in UTC; else the moment."""
    if quiet is None:
        return at
    start, end = quiet
    local = at.astimezone(zone)
    clock = local.time()
    is_over_night = end < start
    is_day = end <= clock < start if is_over_night else not start <= clock < end
    if is_day:
        return at
    ends_tomorrow = is_over_night and clock >= start
    day = local.date() + _DAY if ends_tomorrow else local.date()
    return max(at, _local_to_utc(datetime.combine(day, end), zone))


def preview_notice_mails(
    *,
    tenant: Tenant,
    recipient: Recipient,
    recipients: Sequence[Recipient],
    now: datetime,
) -> list[PreviewMail]:
    """Return the mails of the last PREVIEW with these settings, newest first.

    `recipient` replaces the row of the same member in `recipients`. Mails that would
    still be to come are left out.
    """
    team = [
        recipient if each.membership.pk == recipient.membership.pk else each
        for each in recipients
    ]
    mails: dict[tuple[datetime, bool, int], list[Notice]] = {}
    for notice in list_notices_since(tenant=tenant, since=now - PREVIEW):
        pierces = notice_ignores_quiet_hours(
            kind=NoticeKind(notice.kind), environment=tenant.environment
        )
        for each, level in list_recipients_of_notice(
            team, tenant=tenant, notice=notice
        ):
            if each is not recipient:
                continue
            turn = compute_notice_mail_time(
                recipient=each, level=level, notice=notice, pierces=pierces
            )
            alone = turn.due_at == notice.at and not turn.by_digest
            key = (turn.due_at, turn.by_digest, notice.pk if alone else 0)
            mails.setdefault(key, []).append(notice)
    return [
        PreviewMail(due_at, is_digest, not is_digest and not alone, tuple(notices))
        for (due_at, is_digest, alone), notices in sorted(mails.items(), reverse=True)
        if due_at <= now
    ]


def list_notices_since(*, tenant: Tenant, since: datetime) -> list[Notice]:
    """Return the notices since a moment, oldest first."""
    happened = Notice.objects.for_tenant(tenant).filter(at__gte=since)
    return list(happened.order_by("at", "pk"))


def list_notices_of_kind(*, tenant: Tenant, kind: NoticeKind) -> list[Notice]:
    """Return the stored notices of one kind, oldest first."""
    noted = Notice.objects.for_tenant(tenant).filter(kind=kind)
    return list(noted.order_by("at", "pk"))


def _local_to_utc(local: datetime, zone: tzinfo) -> datetime:
    """Convert a zone's local time to UTC; skip an hour that does not exist."""
    try:
        return convert_local_time_to_utc(local, zone)
    except SkippedTime:
        return convert_local_time_to_utc(local + _HOUR, zone)
