"""Change a member's own name, time zone, language, theme, password and sessions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Member, Team
from accounts.models.member import NAME_MAX_LENGTH
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.passwords import check_password_strength
from accounts.states import Theme
from portal.lib.errors import DomainError
from portal.lib.languages import is_member_language
from portal.lib.periods import list_time_zones

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class Profile:
    """A member's choices; an empty one follows their team, browser or device."""

    name: str
    time_zone: str
    language: str
    theme: str
    shortcuts_enabled: bool


@transaction.atomic
def change_profile(*, member: Member, actor: Actor, profile: Profile) -> Member:
    """Change a member's profile and record it in every team's audit.

    Raises: name_missing, name_too_long, time_zone_unknown, language_unknown,
    theme_unknown.
    """
    name = validate_member_name(profile.name)
    _check_time_zone(profile.time_zone)
    if profile.language and not is_member_language(profile.language):
        raise DomainError("language_unknown", _("Choose from the list."), "language")
    if profile.theme and profile.theme not in Theme.values:
        raise DomainError(
            "theme_unknown", _("Select light, dark or no theme."), "theme"
        )
    return _store(member, actor, {**asdict(profile), "name": name})


@transaction.atomic
def use_time_zone(*, member: Member, actor: Actor, time_zone: str) -> Member:
    """Show a member's pages in this time zone, and record it as a change of profile.

    Raises: time_zone_unknown.
    """
    _check_time_zone(time_zone)
    return _store(member, actor, {"time_zone": time_zone})


def _check_time_zone(name: str) -> None:
    if name and name not in list_time_zones():
        raise DomainError(
            "time_zone_unknown",
            _("Select a time zone, for example America/Chicago."),
            "time_zone",
        )


def _store(member: Member, actor: Actor, chosen: Mapping[str, Any]) -> Member:
    member = Member.objects.select_for_update().get(pk=member.pk)
    changes = {
        field: [getattr(member, field), value]
        for field, value in chosen.items()
        if getattr(member, field) != value
    }
    for field, (_old, value) in changes.items():
        setattr(member, field, value)
    if changes:
        member.save(update_fields=sorted(changes))
        record_own_change_in_team_audits(
            member=member, actor=actor, verb="change_profile", changes=changes
        )
    return member


@transaction.atomic
def change_password(*, member: Member, actor: Actor, current: str, new: str) -> Member:
    """Set a new password, given the current one; end all sessions.

    The caller renews the session that it serves. Raises: password_wrong, password_weak.
    Source: Ours: the same rules as a reset.
    """
    member = Member.objects.select_for_update().get(pk=member.pk)
    if not member.check_password(current):
        raise DomainError(
            "password_wrong", _("The current password is incorrect."), "current"
        )
    check_password_strength(new, member=member, field="new")
    member.set_password(new)
    member.save(update_fields=["password"])
    record_own_change_in_team_audits(member=member, actor=actor, verb="change_password")
    return member


@transaction.atomic
def end_all_sessions_of_member(*, member: Member, actor: Actor) -> Member:
    """Sign a member out everywhere; the caller renews its own session.

    Source: Ours: a lost device must not need a new password.
    """
    member = Member.objects.select_for_update().get(pk=member.pk)
    member.session_round += 1
    member.save(update_fields=["session_round"])
    record_own_change_in_team_audits(member=member, actor=actor, verb="end_sessions")
    return member


def validate_member_name(name: str) -> str:
    """Return a trimmed name. Raises: name_missing, name_too_long."""
    name = name.strip()
    if not name:
        raise DomainError("name_missing", _("Enter your name."), "name")
    if len(name) > NAME_MAX_LENGTH:
        raise DomainError("name_too_long", _("Enter at most 150 characters."), "name")
    return name


def record_own_change_in_team_audits(
    *,
    member: Member,
    actor: Actor,
    verb: str,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Record a member's own change in the audit of each of their teams."""
    for team in Team.objects.filter(memberships__member=member):
        record_team_change(
            team=team,
            actor=actor,
            verb=verb,
            subject="member",
            subject_id=member.pk,
            changes=changes,
        )
