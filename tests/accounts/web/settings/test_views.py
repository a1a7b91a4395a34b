from __future__ import annotations

from http import HTTPStatus

import pytest

from accounts.models import AuditEntry, Team, Tenant
from accounts.operations.teams.teams import SETTINGS
from accounts.states import Role
from accounts.web.forms import BehaviourForm, BrandForm
from tests.factories.accounts import make_member

PAGE = "/t/alice-health/sandbox/settings/"
BRAND = {
    "company_name": "Alice Health",
    "company_website": "https://alice.example",
    "support_email": "help@alice.example",
    "support_contact": "+1 555 0100",
    "company_address": "1 Harbour Street",
    "brand_color": "#0f6170",
    "logo_url": "https://alice.example/logo.png",
}
pytestmark = pytest.mark.django_db


def written():
    return (
        sorted(map(str, Tenant.objects.values())),
        sorted(map(str, Team.objects.values())),
        AuditEntry.unscoped.count(),
    )


def test_the_page_has_every_setting_of_the_contract():
    shown = {
        *BehaviourForm.base_fields,
        "lab_report_checks",  # a field for each check
        "source_reconnect_mails_enabled",  # on the page of sources
        "assistants_enabled",  # on that of assistants
        "logo_url",
        "patient_language",
        "brand_information",
    }

    assert shown == SETTINGS
    assert {"logo_url", "patient_language"} <= BrandForm.base_fields.keys()


def test_settings_are_saved_for_this_environment_alone(
    alice_web, alice_tenant, alice_production
):
    fields = {
        "minor_ordering_enabled": "on",
        "critical_result_notification_email": "lab@alice.example",
        "critical_result_limit_minutes": "30",
    }

    reply = alice_web.post(f"{PAGE}behaviour/", fields)

    alice_tenant.refresh_from_db()
    alice_production.refresh_from_db()
    assert reply["Location"] == PAGE
    assert alice_tenant.minor_ordering_enabled is True
    assert alice_tenant.lab_report_parsing_enabled is False
    assert alice_tenant.critical_result_notification_email == "lab@alice.example"
    assert alice_tenant.critical_result_limit_minutes == 30
    assert alice_production.critical_result_limit_minutes == 60
    assert alice_production.minor_ordering_enabled is False
    assert alice_production.critical_result_notification_email is None
    (entry,) = AuditEntry.objects.for_tenant(alice_tenant).filter(
        verb="change_settings"
    )
    assert entry.changes["minor_ordering_enabled"] == [False, True]
    assert entry.changes["lab_report_parsing_enabled"] == [True, False]
    assert entry.actor_label == "alice@assay.example"


def test_a_brand_is_saved_and_taken_back(alice_web, alice_tenant):
    alice_web.post(f"{PAGE}brand/", BRAND)
    alice_tenant.refresh_from_db()
    saved = (alice_tenant.brand_information, alice_tenant.logo_url)
    alice_web.post(f"{PAGE}brand/", {})
    alice_tenant.refresh_from_db()

    logo = BRAND["logo_url"]
    assert saved == ({k: v for k, v in BRAND.items() if k != "logo_url"}, logo)
    assert (alice_tenant.brand_information, alice_tenant.logo_url) == (None, None)


@pytest.mark.parametrize(
    ("part", "given", "field"),
    [
        ("brand", {**BRAND, "company_name": ""}, "company_name"),
        ("brand", {**BRAND, "brand_color": "red"}, "brand_color"),
        (
            "brand",
            {**BRAND, "company_website": "javascript:alert(1)"},
            "company_website",
        ),
        ("brand", {**BRAND, "logo_url": "http://alice.example/x.png"}, "logo_url"),
        ("brand", {**BRAND, "support_email": "help"}, "support_email"),
        ("team", {"name": " ", "time_zone": "UTC"}, "name"),
        ("team", {"name": "Alice", "time_zone": "Mars/Base"}, "time_zone"),
        (
            "behaviour",
            {"critical_result_notification_email": "lab"},
            "critical_result_notification_email",
        ),
        (
            "behaviour",
            {"critical_result_limit_minutes": "1441"},
            "critical_result_limit_minutes",
        ),
        ("behaviour", {"lab_report_review_below": "101"}, "lab_report_review_below"),
    ],
)
def test_what_is_refused_stays_in_the_form_and_changes_nothing(
    alice_web, part, given, field
):
    before = written()

    reply = alice_web.post(f"{PAGE}{part}/", given)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    errors = reply.context[f"{part}_form"].errors
    assert {name: len(said) for name, said in errors.items()} == {field: 1}
    assert written() == before


def test_the_team_s_name_and_zone_are_saved(alice_web, alice_team):
    fields = {"name": "Alice Care", "time_zone": "Asia/Kolkata"}

    alice_web.post(f"{PAGE}team/", fields)

    alice_team.refresh_from_db()
    assert (alice_team.name, alice_team.time_zone) == ("Alice Care", "Asia/Kolkata")


@pytest.mark.parametrize("role", list(Role))
def test_every_role_sees_settings_and_two_change_them(client, alice_team, role):
    client.force_login(make_member(team=alice_team, roles=(role,)))
    may_change = role in {Role.OWNER, Role.ADMIN}
    client.get(PAGE)
    before = written()

    page = client.get(PAGE)
    replies = [
        client.post(f"{PAGE}team/", {"name": "Other", "time_zone": "UTC"}),
        client.post(f"{PAGE}brand/", BRAND),
        client.post(f"{PAGE}behaviour/", {}),
    ]

    assert page.status_code == HTTPStatus.OK
    assert page.context["may_change"] is may_change
    assert page.context["team_form"].fields["name"].disabled is not may_change
    expected = HTTPStatus.FOUND if may_change else HTTPStatus.FORBIDDEN
    assert {reply.status_code for reply in replies} == {expected}
    assert (written() == before) is not may_change


def test_who_reads_the_audit_sees_what_changed_lately(alice_web, client, bob):
    alice_web.post(f"{PAGE}brand/", {**BRAND, "logo_url": ""})
    alice_web.post(f"{PAGE}brand/", {**BRAND, "support_contact": "", "logo_url": ""})
    client.force_login(bob)

    shown = alice_web.get(PAGE).context["changes"]

    assert shown[0][1] == [("support_contact", "+1 555 0100", "not set")]
    assert client.get(PAGE).context["changes"] == []
