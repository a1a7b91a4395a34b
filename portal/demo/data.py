"""The demo's data: two teams with fictional users, their sources and reports.

`manage.py demo` loads them into teams of its own, "Load demo data" the first team's
into a customer's sandbox. Loading again adds only what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.declarations.demo_data import DemoPerson, DemoScene, list_demo_loaders
from accounts.models import Member, Membership, Team
from accounts.operations.teams.teams import (
    add_team_member,
    change_team_settings,
    create_team,
)
from accounts.states import Environment, Role
from portal.demo.models import DemoData
from portal.demo.webhooks import (
    register_demo_webhook_receiver,
    subscribe_demo_receiver_to_all_events,
)
from portal.lib.actor import Actor
from portal.lib.tenancy import across_tenants, acting_for
from reports.operations.jobs.submission import ReportPart, ReportRequest, submit_report
from users.operations.users.users import ClientUserIdTaken, UserRequest, create_user

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from accounts.models import Tenant

OWNER_EMAIL = "demo@assay.example"
OWNER_NAME = "Robin Vale"
# Fictional, one in each role beside the owner; none has a password to sign in with.
COLLEAGUES = (
    ("Ada Lindgren", "ada.lindgren@assay.example", Role.ADMIN),
    ("Mina Okoye", "mina.okoye@assay.example", Role.CLINICIAN),
    ("Tomas Reuter", "tomas.reuter@assay.example", Role.LAB_STAFF),
    ("Elena Marsh", "elena.marsh@assay.example", Role.PHYSICIAN),
    ("Priya Nair", "priya.nair@assay.example", Role.DEVELOPER),
    ("Jonas Weil", "jonas.weil@assay.example", Role.VIEWER),
)
COLLEAGUES_TEAM = "demo"
FAILING_TEAM = "demo"
# The same reports that the parser's tests read; their people are fictional.
REPORTS = Path(__file__).with_name("reports")
ACTOR = Actor.system("demo")
# With those that each source has, a month and the time that it is compared with.
EARLIER_DAYS = 92


@dataclass(frozen=True, slots=True)
class DemoTeams:
    """The loaded teams: the member who signs in, and each team's sandbox."""

    owner: Member
    sandboxes: tuple[Tenant, ...]


@dataclass(frozen=True, slots=True)
class DemoUser:
    """One user to load: the customer's id, sources, fallbacks, names of reports.

    Those in `to_review` wait for a clinician, where the team has them reviewed. The
    sources have sent nothing for `quiet_days`, and what pages compare with for
    `earlier_days` more than of others.
    """

    client_user_id: str
    sources: tuple[str, ...] = ()
    time_zone: str | None = None
    born: date | None = None
    reports: tuple[str, ...] = ()
    quiet_days: int = 0
    earlier_days: int = 0
    to_review: tuple[str, ...] = ()


TEAMS: dict[str, tuple[str, tuple[DemoUser, ...]]] = {
    "demo": (
        "Harbour Health",
        (
            DemoUser(
                "mbr_20418",
                ("oura", "apple_health_kit"),
                "Europe/Lisbon",
                date(1979, 4, 12),  # as printed on the reports
                ("metabolic-panel.pdf", "blood-count.pdf"),
                earlier_days=EARLIER_DAYS,
            ),
            DemoUser("mbr_20419", ("fitbit",), "America/New_York"),
            # Held: another user's file, with another birth date.
            DemoUser(
                "mbr_20422",
                ("dexcom_v3", "withings"),
                "America/Phoenix",
                date(1961, 11, 2),
                ("metabolic-panel.pdf",),
                earlier_days=EARLIER_DAYS,
            ),
            # Thirty values, among them a lost decimal point and a wrong unit.
            DemoUser(
                "mbr_20425",
                ("garmin", "strava"),
                "Europe/Berlin",
                to_review=("full-panel.pdf",),
            ),
            # No report at all: something that needs attention.
            DemoUser("mbr_20431", (), "America/Chicago", reports=("letter.pdf",)),
            DemoUser("mbr_20437", ("whoop_v2",), "Australia/Sydney"),
            DemoUser("mbr_20440", ("freestyle_libre",), "Europe/Madrid"),
            DemoUser("mbr_20446", ("apple_health_kit",), "America/Los_Angeles"),
            DemoUser("mbr_20452", ("polar", "omron_ble"), "Europe/Helsinki"),
            DemoUser("mbr_20458"),
            DemoUser("mbr_20463", ("health_connect",), "Asia/Kolkata"),
            DemoUser("mbr_20469", ("ultrahuman",), "Asia/Kolkata"),
            # Another birth date is on the report.
            DemoUser(
                "mbr_20475",
                ("oura",),
                "Europe/London",
                date(1979, 8, 30),
                to_review=("metabolic-panel.pdf",),
            ),
            # Silent: something else that needs attention.
            DemoUser("mbr_20481", ("eight_sleep",), "America/Denver", quiet_days=5),
            DemoUser("mbr_20487", ("fitbit", "cronometer"), "America/Toronto"),
            # The same file as another user's.
            DemoUser("mbr_20490", (), "Europe/Paris", to_review=("blood-count.pdf",)),
        ),
    ),
    "demo-two": (
        "Northfield Clinic",
        (
            DemoUser(
                "nf-001",
                ("withings",),
                "America/Phoenix",
                date(1979, 4, 12),
                ("blood-count.pdf",),
            ),
            DemoUser("nf-002", ("apple_health_kit",), "America/Denver"),
            DemoUser("nf-003"),
            DemoUser("nf-004", ("garmin",), "America/Phoenix"),
            DemoUser("nf-005", ("accuchek_ble",), "America/New_York"),
        ),
    ),
}


def discard_demo_progress(_step: str) -> None:
    """Print nothing for a step of the loading: nobody watches a job."""


def _report_part(report: Callable[[str], None], team: str, part: str) -> None:
    report(f"Loading {team}, {part}")


def load_demo_data(
    *,
    webhooks_port: int = 0,
    bare: bool = False,
    report: Callable[[str], None] = discard_demo_progress,
) -> DemoTeams:
    """Create the two teams, their owner, users, sources and reports where missing.

    Their webhooks go to the receiver at `webhooks_port` of this machine, if any. A
    report is submitted with its user and parsed by the worker like any other. A `bare`
    demo has teams and members alone. `report` is called with each step.
    Source: Ours (a newcomer sees every screen with something on it).
    """
    sandboxes = []
    for slug, (name, people) in TEAMS.items():
        with across_tenants(why="demo makes its own teams"):
            team = Team.objects.filter(slug=slug).first() or _create_demo_team(
                name, slug
            )
            owner = _owner(team)
            if slug == COLLEAGUES_TEAM:
                create_demo_members(team)
            sandbox = team.tenants.select_related("team").get(
                environment=Environment.SANDBOX
            )
        with acting_for(sandbox):
            DemoData.objects.for_tenant(sandbox).get_or_create(
                tenant=sandbox, defaults={"loaded_at": timezone.now()}
            )
            if webhooks_port:
                register_demo_webhook_receiver(
                    tenant=sandbox, port=webhooks_port, fails=slug == FAILING_TEAM
                )
            if not bare:
                create_demo_users(
                    tenant=sandbox,
                    people=people,
                    are_ours=True,
                    report=partial(_report_part, report, name),
                )
            subscribe_demo_receiver_to_all_events(tenant=sandbox)
        sandboxes.append(sandbox)
    return DemoTeams(owner=owner, sandboxes=tuple(sandboxes))


def _create_demo_team(name: str, slug: str) -> Team:
    """Create a team whose users share results in the sandbox."""
    team = create_team(name=name, slug=slug, actor=ACTOR)
    change_team_settings(
        tenant=team.tenants.get(environment=Environment.SANDBOX),
        actor=ACTOR,
        settings={"user_sharing_enabled": True},
    )
    return team


def _owner(team: Team) -> Member:
    membership = Membership.objects.filter(
        team=team, member__email=OWNER_EMAIL
    ).first() or add_team_member(
        team=team,
        actor=ACTOR,
        email=OWNER_EMAIL,
        name=OWNER_NAME,
        roles=[Role.OWNER, Role.CLINICIAN],
    )
    return membership.member


def create_demo_members(team: Team) -> None:
    """Put a member in each role into a team, where one is missing.

    Source: Ours: the page of members shows what each role may do.
    """
    there = set(
        Membership.objects.filter(team=team).values_list("member__email", flat=True)
    )
    for name, email, role in COLLEAGUES:
        if email not in there:
            add_team_member(
                team=team, actor=ACTOR, email=email, name=name, roles=[role]
            )


def create_demo_users(
    *,
    tenant: Tenant,
    people: Sequence[DemoUser],
    prefix: str = "",
    are_ours: bool = False,
    report: Callable[[str], None] = discard_demo_progress,
) -> None:
    """Create the users that are missing, then let each app add its data to them.

    The tenant has its DemoData. `prefix` goes before each client_user_id. An id that is
    taken is left alone unless it is of the demo data, or `are_ours` says that all such
    ids of this tenant are.
    """
    found = []
    report("users and reports")
    for person in people:
        client_user_id = prefix + person.client_user_id
        user_uuid = _load_user(tenant, person, client_user_id, adopt=are_ours)
        if user_uuid is not None:
            found.append(
                DemoPerson(
                    user_uuid=user_uuid,
                    client_user_id=client_user_id,
                    sources=person.sources,
                    time_zone=person.time_zone,
                    birth_date=person.born,
                    quiet_days=person.quiet_days,
                    earlier_days=person.earlier_days,
                )
            )
    scene = DemoScene(tenant=tenant, actor=ACTOR, people=tuple(found))
    loaders = list_demo_loaders()
    for number, load in enumerate(loaders, start=1):
        report(f"step {number} of {len(loaders)}")
        load(scene)


@transaction.atomic  # a user is either missing or whole
def _load_user(
    tenant: Tenant, person: DemoUser, client_user_id: str, *, adopt: bool
) -> UUID | None:
    """Return the demo user of this ID, created if missing; None: the ID is taken."""
    demo = DemoData.objects.for_tenant(tenant).select_for_update().get()
    try:
        user = create_user(
            tenant=tenant,
            actor=ACTOR,
            request=UserRequest(
                client_user_id=client_user_id,
                fallback_time_zone=person.time_zone,
                fallback_birth_date=person.born,
            ),
        )
    except ClientUserIdTaken as taken:
        if taken.user_uuid in demo.user_uuids:
            return taken.user_uuid
        if not adopt:
            return None
        _note(demo, taken.user_uuid)
        return taken.user_uuid
    _note(demo, user.uuid)
    if tenant.lab_report_parsing_enabled:
        for name in person.reports:
            _submit(tenant, user.uuid, REPORTS / name)
        for name in person.to_review if tenant.lab_report_human_review_enabled else ():
            _submit(tenant, user.uuid, REPORTS / name, needs_human_review=True)
    return user.uuid


def _note(demo: DemoData, user_uuid: UUID) -> None:
    demo.user_uuids.append(user_uuid)
    demo.save(update_fields=["user_uuids"])


def _submit(
    tenant: Tenant, user_uuid: UUID, path: Path, *, needs_human_review: bool = False
) -> None:
    part = ReportPart(path.read_bytes(), "application/pdf")
    request = ReportRequest(
        user_id=user_uuid, parts=(part,), needs_human_review=needs_human_review
    )
    submit_report(tenant=tenant, actor=ACTOR, request=request)
