"""Roles, areas, the permission matrix and the environments of a team.

Closed sets and the one table that says who may do what.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import TextChoices

from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable


class Environment(TextChoices):
    """The two environments of a team (contract 1.8, closed)."""

    SANDBOX = "sandbox", gettext_lazy("Sandbox")
    PRODUCTION = "production", gettext_lazy("Production")


class Region(TextChoices):
    """Where a team's data lives; part of its keys (contract 1.2)."""

    US = "us", gettext_lazy("United States")
    EU = "eu", gettext_lazy("Europe")


class Role(TextChoices):
    """A member's role in a team; a member can have several (closed)."""

    OWNER = "owner", gettext_lazy("Owner")
    ADMIN = "admin", gettext_lazy("Admin")
    CLINICIAN = "clinician", gettext_lazy("Clinician")
    LAB_STAFF = "lab_staff", gettext_lazy("Lab staff")
    DEVELOPER = "developer", gettext_lazy("Developer")
    VIEWER = "viewer", gettext_lazy("Viewer")
    PHYSICIAN = "physician", gettext_lazy("Physician")


# Who holds one of these administers the team.
ADMINISTERS = frozenset({Role.OWNER.value, Role.ADMIN.value})


class ManagementRole(TextChoices):
    """The scope of a management key (contract 9.1)."""

    ORG_ADMIN = "org_admin", gettext_lazy("All teams of the organization")
    TEAM_ADMIN = "team_admin", gettext_lazy("This team")


class InviteStatus(TextChoices):
    """The result of inviting an address to an organization (contract 9.1)."""

    CREATED = "invite_created", gettext_lazy("Invited")
    RESENT = "invite_resent", gettext_lazy("Invited again")
    ALREADY_IN_ORG = "already_in_org", gettext_lazy("Already a member")


class Theme(TextChoices):
    """The theme of a member's pages; without a choice they follow the device."""

    LIGHT = "light", gettext_lazy("Light")
    DARK = "dark", gettext_lazy("Dark")


class NoticeKind(TextChoices):
    """The kinds of notices that members receive by email (closed)."""

    CRITICAL_RESULT = "critical_result", gettext_lazy("Critical results")
    FAILING_ENDPOINT = "failing_endpoint", gettext_lazy("Failing endpoints")
    SILENT_SOURCE = "silent_source", gettext_lazy("Silent sources")
    FAILED_SOURCE = "failed_source", gettext_lazy("Failed sources")
    ORDER_APPROVAL = "order_approval", gettext_lazy("Orders to approve")


class NoticeLevel(TextChoices):
    """When a member receives one kind of notices (closed)."""

    AT_ONCE = "at_once", gettext_lazy("Immediately")
    LATE = "late", gettext_lazy("When one is overdue")  # critical results alone
    DAILY = "daily", gettext_lazy("Daily")
    OFF = "off", gettext_lazy("Never")


class Area(TextChoices):
    """The area of a permission; each page and operation belongs to one."""

    USERS = "users", gettext_lazy("Users and wearable data")
    PATIENT_DETAILS = "patient_details", gettext_lazy("Patient details")
    ORDERS = "orders", gettext_lazy("Orders and results")
    APPROVE_ORDERS = "approve_orders", gettext_lazy("Approve orders as a physician")
    SHIPMENTS = "shipments", gettext_lazy("Kit shipments")
    BOOKINGS = "bookings", gettext_lazy("Visits")
    REPORTS = "reports", gettext_lazy("Reports: upload, pages and parsed values")
    SIGN_REPORTS = (
        "sign_reports",
        gettext_lazy("Review and sign reports, acknowledge results"),
    )
    CATALOGUE = "catalogue", gettext_lazy("Lab accounts and test catalog")
    WEBHOOKS = "webhooks", gettext_lazy("Webhooks and deliveries")
    API_KEYS = "api_keys", gettext_lazy("API keys")
    ASSISTANT = "assistant", gettext_lazy("Assistants")
    TEAM = "team", gettext_lazy("Members and settings")
    AUDIT = "audit", gettext_lazy("Audit log")
    DELETE_USERS = "delete_users", gettext_lazy("Delete users")
    DELETE_TEAM = "delete_team", gettext_lazy("Delete the team")


class Access(StrEnum):
    """The level of a permission; write includes read."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    WRITE_SANDBOX = "write_sandbox"  # writes in the sandbox, nothing in production


_LETTERS = {
    "-": Access.NONE,
    "R": Access.READ,
    "W": Access.WRITE,
    "S": Access.WRITE_SANDBOX,
}
# Columns in the order of Role. Source: Ours (architecture 2.6).
_ROWS = {
    Area.USERS: "W W R R R R R",
    Area.PATIENT_DETAILS: "W W R W - - R",
    Area.ORDERS: "W W R W R R R",
    Area.APPROVE_ORDERS: "R R - R - - W",
    Area.SHIPMENTS: "W W R W R R R",
    Area.BOOKINGS: "W W - W - R R",
    Area.REPORTS: "W W W W - - -",
    Area.SIGN_REPORTS: "- - W - - - -",
    Area.CATALOGUE: "W W R W R R R",
    Area.WEBHOOKS: "W W - - W - -",
    Area.API_KEYS: "W W - - S - -",
    Area.ASSISTANT: "W W - - R - -",
    Area.TEAM: "W W R R R R R",
    Area.AUDIT: "R R - - - - -",
    Area.DELETE_USERS: "W W - - - - -",
    Area.DELETE_TEAM: "W - - - - - -",
}
MATRIX: dict[Area, dict[Role, Access]] = {
    area: dict(zip(Role, (_LETTERS[x] for x in row.split()), strict=True))
    for area, row in _ROWS.items()
}


def roles_allow_access(
    *, roles: Iterable[str], area: Area, write: bool, environment: str
) -> bool:
    """Return whether any of `roles` may read, or `write`, in `area`."""
    enough = {Access.WRITE} if write else {Access.WRITE, Access.READ}
    if environment == Environment.SANDBOX:
        enough.add(Access.WRITE_SANDBOX)
    return any(MATRIX[area][Role(role)] in enough for role in roles)


def list_rights_of_roles(roles: Iterable[str]) -> frozenset[tuple[Area, str, bool]]:
    """Return all rights of `roles`, as (area, environment, is it writing)."""
    held = list(roles)
    return frozenset(
        (area, environment.value, write)
        for area in Area
        for environment in Environment
        for write in (False, True)
        if roles_allow_access(
            roles=held, area=area, write=write, environment=environment
        )
    )


# What an API key may be limited to (Ours): the areas that calls with it are about. What
# an area lacks here, no call does.
_KEY_ACCESS: dict[Area, tuple[Access, ...]] = {
    Area.USERS: (Access.READ, Access.WRITE),
    Area.PATIENT_DETAILS: (Access.READ, Access.WRITE),
    Area.ORDERS: (Access.READ, Access.WRITE),
    Area.SHIPMENTS: (Access.WRITE,),
    Area.BOOKINGS: (Access.READ, Access.WRITE),
    Area.REPORTS: (Access.READ, Access.WRITE),
    Area.CATALOGUE: (Access.READ, Access.WRITE),
    Area.WEBHOOKS: (Access.READ,),
    Area.ASSISTANT: (Access.READ,),
    Area.TEAM: (Access.READ,),
    Area.DELETE_USERS: (Access.WRITE,),
}
SCOPES: dict[str, tuple[Area, Access]] = {
    f"{area}:{access}": (area, access)
    for area, accesses in _KEY_ACCESS.items()
    for access in accesses
}


def scopes_allow_access(
    scopes: frozenset[str] | None, *, area: Area, write: bool
) -> bool:
    """Return whether a key's scopes allow to read, or `write`, in `area`.

    Writing includes reading.
    """
    if scopes is None or f"{area}:{Access.WRITE}" in scopes:
        return True
    return not write and f"{area}:{Access.READ}" in scopes


# Of each kind: whoever may read the area may be told of it; who may write the other is,
# at that level, without choosing.
_NOTICE_AREAS = {
    NoticeKind.CRITICAL_RESULT: (Area.ORDERS, Area.SIGN_REPORTS, NoticeLevel.LATE),
    NoticeKind.FAILING_ENDPOINT: (Area.WEBHOOKS, Area.WEBHOOKS, NoticeLevel.AT_ONCE),
    NoticeKind.SILENT_SOURCE: (Area.USERS, Area.USERS, NoticeLevel.DAILY),
    NoticeKind.FAILED_SOURCE: (Area.USERS, Area.USERS, NoticeLevel.DAILY),
    NoticeKind.ORDER_APPROVAL: (
        *(Area.APPROVE_ORDERS, Area.APPROVE_ORDERS),
        NoticeLevel.AT_ONCE,
    ),
}
# Only members who can act on these are notified.
_FOR_ACTING_MEMBERS = {NoticeKind.ORDER_APPROVAL}


def list_selectable_notice_levels(kind: NoticeKind) -> list[NoticeLevel]:
    """Return the levels that can be chosen for a kind."""
    has_clock = kind == NoticeKind.CRITICAL_RESULT
    return [each for each in NoticeLevel if has_clock or each != NoticeLevel.LATE]


def may_receive_notice(
    *, roles: Iterable[str], kind: NoticeKind, environment: str
) -> bool:
    """Return whether a member with these roles may receive this kind."""
    return roles_allow_access(
        roles=roles,
        area=_NOTICE_AREAS[kind][0],
        write=kind in _FOR_ACTING_MEMBERS,
        environment=environment,
    )


def get_default_notice_level(
    *, roles: Iterable[str], kind: NoticeKind, environment: str
) -> NoticeLevel:
    """Return the level of a kind for members who have not chosen.

    Source: Ours: who has to act on it is told.
    """
    _, area, level = _NOTICE_AREAS[kind]
    acts = roles_allow_access(
        roles=roles, area=area, write=True, environment=environment
    )
    return level if acts else NoticeLevel.OFF


def notice_ignores_quiet_hours(*, kind: NoticeKind, environment: str) -> bool:
    """Return whether mails of this kind are sent in quiet hours too.

    Source: Ours: a critical result of a patient can't wait for the morning; the
    sandbox's patients are made up.
    """
    return kind == NoticeKind.CRITICAL_RESULT and environment == Environment.PRODUCTION


class ReportCheck(TextChoices):
    """A check on every lab report before its values count (Ours; contract D14)."""

    NAME = "name", gettext_lazy("Patient name differs from the user's")
    BIRTH_DATE = "birth_date", gettext_lazy("Birth date differs from the user's")
    SEX = "sex", gettext_lazy("Sex differs from the user's")
    SEVERAL_PATIENTS = "several_patients", gettext_lazy("Pages name several patients")
    DUPLICATE = "duplicate", gettext_lazy("File or specimen is already known")
    REPORT_DATE = "report_date", gettext_lazy("Report is old or dated in the future")
    HIDDEN_TEXT = "hidden_text", gettext_lazy("Text differs from what the page shows")
    ORDER = "order", gettext_lazy("Report does not fit the order it was uploaded for")


class CheckMode(TextChoices):
    """What a failed check of a lab report does (Ours)."""

    HOLD = "hold", gettext_lazy("Hold")  # until a person releases or rejects it
    MARK = "mark", gettext_lazy("Mark")  # a note on the report
    OFF = "off", gettext_lazy("Off")
