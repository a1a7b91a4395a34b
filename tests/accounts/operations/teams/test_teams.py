from __future__ import annotations

import pytest

from accounts.models import AuditEntry, Member, Membership, Organisation, Team, Tenant
from accounts.operations.api_keys.api_keys import known_grants
from accounts.operations.teams.teams import (
    SETTINGS,
    add_team_member,
    change_team,
    change_team_settings,
    create_team,
)
from accounts.states import Environment, Role
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_api_key, make_team, make_tenant

pytestmark = pytest.mark.django_db


def test_a_new_team_has_two_environments_with_the_contracts_defaults():
    team = create_team(name="North Clinic", actor=ACTOR)

    sandbox, production = (
        Tenant.objects.get(team=team, environment=environment)
        for environment in (Environment.SANDBOX, Environment.PRODUCTION)
    )
    shared = {
        "partial_webhooks_enabled": False,
        "minor_ordering_enabled": False,
        "reject_duplicate_connection": False,
        "sdk_per_device_activity_timeseries": False,
        "lab_tests_patient_sms_communication_enabled": True,
        "lab_tests_patient_email_communication_enabled": True,
        "critical_result_notification_email": None,
        "critical_result_limit_minutes": 60,
        "lab_report_review_below": None,
        "lab_report_second_read_percent": 0,
        "lab_report_checks": {},
        "lab_report_max_age_days": 1095,
        "order_approval_enabled": False,
        "source_reconnect_mails_enabled": False,
        "assistants_enabled": False,
        "patient_language": "en",
        "user_sharing_enabled": False,
        "brand_information": None,
        "logo_url": None,
    }
    own = (
        "lab_report_parsing_enabled",
        "lab_report_human_review_enabled",
        "early_psc_booking_enabled",
    )
    assert team.slug == "north-clinic"
    assert {n: getattr(sandbox, n) for n in SETTINGS} == {
        **shared,
        **dict.fromkeys(own, True),
    }
    assert {n: getattr(production, n) for n in SETTINGS} == {
        **shared,
        **dict.fromkeys(own, False),
    }
    assert [entry.verb for entry in AuditEntry.objects.for_tenant(sandbox)] == [
        "create_team"
    ]


@pytest.mark.parametrize(
    ("name", "slug", "code"),
    [
        (" ", None, "name_missing"),
        ("x" * 81, None, "name_too_long"),
        ("健康", None, "slug_invalid"),
        ("Other name", "taken", "slug_taken"),
    ],
)
def test_a_refused_team_leaves_nothing_behind(name, slug, code):
    create_team(name="Taken", actor=ACTOR)
    before = (Organisation.objects.count(), Team.objects.count())

    with pytest.raises(DomainError) as refused:
        create_team(name=name, slug=slug, actor=ACTOR)

    assert refused.value.code == code
    assert (Organisation.objects.count(), Team.objects.count()) == before
    assert AuditEntry.unscoped.count() == 2


def test_a_person_new_to_the_server_gets_an_account_without_a_password():
    team = make_team()

    membership = add_team_member(
        team=team,
        actor=ACTOR,
        email=" Dana@Assay.Example ",
        roles=[Role.OWNER, Role.CLINICIAN],
    )

    member = Member.objects.get()
    assert member.email == "dana@assay.example"
    assert not member.has_usable_password()
    assert membership.roles == ["clinician", "owner"]


def test_a_person_joins_a_second_team_with_the_same_account():
    first, second = make_team(), make_team()
    add_team_member(
        team=first, actor=ACTOR, email="dana@assay.example", roles=[Role.OWNER]
    )

    add_team_member(
        team=second, actor=ACTOR, email="DANA@assay.example", roles=[Role.VIEWER]
    )

    assert Member.objects.count() == 1
    assert Membership.objects.count() == 2


@pytest.mark.parametrize(
    ("roles", "code"), [([], "roles_missing"), ([Role.ADMIN], "already_member")]
)
def test_a_refused_member_changes_nothing(roles, code):
    team = make_team()
    add_team_member(
        team=team, actor=ACTOR, email="dana@assay.example", roles=[Role.OWNER]
    )
    audited = AuditEntry.unscoped.count()

    with pytest.raises(DomainError) as refused:
        add_team_member(team=team, actor=ACTOR, email="dana@assay.example", roles=roles)

    assert refused.value.code == code
    assert Membership.objects.get().roles == ["owner"]
    assert AuditEntry.unscoped.count() == audited


def test_changed_settings_are_audited_with_old_and_new():
    tenant = make_tenant()

    changed = change_team_settings(
        tenant=tenant,
        actor=ACTOR,
        settings={"minor_ordering_enabled": True, "logo_url": None},
    )

    entry = AuditEntry.objects.for_tenant(tenant).get(verb="change_settings")
    assert changed.minor_ordering_enabled is True
    assert entry.changes == {"minor_ordering_enabled": [False, True]}


def test_settings_that_do_not_change_leave_no_audit_line():
    tenant = make_tenant()

    change_team_settings(tenant=tenant, actor=ACTOR, settings={"logo_url": None})

    assert not AuditEntry.objects.for_tenant(tenant).filter(verb="change_settings")


def test_an_unknown_setting_is_refused_and_none_is_changed():
    tenant = make_tenant()

    with pytest.raises(DomainError) as refused:
        change_team_settings(
            tenant=tenant,
            actor=ACTOR,
            settings={"minor_ordering_enabled": True, "team": None},
        )

    tenant.refresh_from_db()
    assert refused.value.code == "setting_unknown"
    assert tenant.minor_ordering_enabled is False


def test_a_setting_takes_effect_on_the_next_call_of_a_known_key(
    client, django_capture_on_commit_callbacks
):
    tenant = make_tenant()
    headers = {"x-service-api-key": make_api_key(tenant=tenant)}
    client.get("/v2/user", headers=headers)
    assert known_grants

    with django_capture_on_commit_callbacks(execute=True):
        change_team_settings(
            tenant=tenant, actor=ACTOR, settings={"minor_ordering_enabled": True}
        )

    assert not known_grants


def test_a_team_is_renamed_and_moved_and_keeps_its_address():
    team = make_team("North Clinic")

    changed = change_team(
        team=team, actor=ACTOR, name=" South Clinic ", time_zone="Europe/Lisbon"
    )

    team.refresh_from_db()
    assert changed == team
    assert (team.name, team.time_zone, team.slug) == (
        "South Clinic",
        "Europe/Lisbon",
        "north-clinic",
    )
    entries = AuditEntry.unscoped.filter(verb="change_team")
    assert [entry.changes for entry in entries] == [
        {
            "name": ["North Clinic", "South Clinic"],
            "time_zone": ["UTC", "Europe/Lisbon"],
        }
    ] * 2


def test_a_team_saved_as_it_is_leaves_no_audit_line():
    team = make_team("North Clinic")

    change_team(team=team, actor=ACTOR, name="North Clinic", time_zone="UTC")

    assert not AuditEntry.unscoped.filter(verb="change_team").exists()


@pytest.mark.parametrize(
    ("name", "time_zone", "code"),
    [
        (" ", "UTC", "name_missing"),
        ("x" * 81, "UTC", "name_too_long"),
        ("South", "Mars/Base", "time_zone_unknown"),
    ],
)
def test_a_team_that_is_refused_stays_as_it_was(name, time_zone, code):
    team = make_team("North Clinic")

    with pytest.raises(DomainError) as refused:
        change_team(team=team, actor=ACTOR, name=name, time_zone=time_zone)

    team.refresh_from_db()
    assert refused.value.code == code
    assert (team.name, team.time_zone) == ("North Clinic", "UTC")
    assert not AuditEntry.unscoped.filter(verb="change_team").exists()
