from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlencode

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib import admin
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, Member
from portal.lib.jobs.jobs import enqueue_job
from portal.ops import health
from portal.ops.isolation.models import IsolationRun
from tests.factories.accounts import ACTOR, PASSWORD, make_member, make_tenant
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user
from tests.users.factories import info_request
from users.operations.sources.sources import connect_source
from users.operations.users.demographics import record_user_info
from users.wearables.providers import PROVIDERS

pytestmark = pytest.mark.django_db

ADMIN = "/admin/"
SET_UP = "/accounts/second-factor/app/"


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


@pytest.fixture(autouse=True)
def _one_half_minute():
    """Codes change every half minute, which none of these tests may cross."""
    with time_machine.travel("2026-03-02T09:00:10Z", tick=False):
        yield


def code_of(secret):
    counter = next(iter(yield_hotp_counters_from_time()))
    return format_hotp_value(hotp_value(secret, counter))


def sign_in(client, member):
    return client.post(
        "/accounts/login/", {"login": member.email, "password": PASSWORD}
    )


def set_up_app(client):
    """Go through the page that sets the app up; gives the secret it showed."""
    secret = client.get(f"{SET_UP}?next=/admin/").context["form"].secret
    client.post(SET_UP, {"code": code_of(secret)})
    cache.clear()  # the same half minute's code may be given once more
    return secret


@pytest.fixture
def operator(alice_team):
    member = make_member(team=alice_team, email="olga@assay.example")
    member.is_staff = True
    member.save(update_fields=["is_staff"])
    return member


@pytest.fixture
def office(operator):
    """A client signed in as an operator who has given the second factor."""
    client = Client()
    sign_in(client, operator)
    set_up_app(client)
    return client


def test_a_stranger_is_asked_to_sign_in():
    reply = Client().get(ADMIN)

    assert reply.status_code == HTTPStatus.FOUND
    assert (
        reply["Location"] == f"/accounts/login/?{urlencode({'next': ADMIN}, safe='/')}"
    )


def test_a_member_who_is_no_operator_is_refused(alice_web):
    assert alice_web.get(ADMIN).status_code == HTTPStatus.FORBIDDEN


def test_the_first_visit_sets_up_an_app_and_shows_recovery_codes(operator):
    client = Client()
    sign_in(client, operator)

    first = client.get(ADMIN)
    secret = client.get(first["Location"]).context["form"].secret
    done = client.post(SET_UP, {"code": code_of(secret)})
    codes = client.get(done["Location"])

    assert first["Location"] == f"{SET_UP}?next=%2Fadmin%2F"
    assert len(codes.context["unused_codes"]) == 10
    assert codes.context["onward"] == ADMIN
    assert client.get(ADMIN).status_code == HTTPStatus.OK
    assert client.get(done["Location"]).context["can_view_codes"] is False


def test_a_wrong_first_code_sets_nothing_up(operator):
    client = Client()
    sign_in(client, operator)
    secret = client.get(SET_UP).context["form"].secret
    wrong = str((int(code_of(secret)) + 1) % 1_000_000).zfill(6)

    reply = client.post(SET_UP, {"code": wrong})

    assert reply.context["form"].errors.as_data()["code"][0].code == "incorrect_code"
    assert not Authenticator.objects.exists()
    assert client.get(ADMIN).status_code == HTTPStatus.FOUND


def test_later_sign_ins_ask_for_a_code(operator, office):
    client = Client()
    reply = sign_in(client, operator)

    assert reply["Location"] == "/accounts/second-factor/code/"
    assert "_auth_user_id" not in client.session


def test_the_secret_is_kept_encrypted(operator):
    client = Client()
    sign_in(client, operator)

    secret = set_up_app(client)

    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        stored = " ".join(row[0] for row in cursor.fetchall())
    assert secret not in stored


def test_a_code_or_a_recovery_code_signs_in(operator):
    setting_up = Client()
    sign_in(setting_up, operator)
    secret = set_up_app(setting_up)
    recovery = setting_up.get("/accounts/second-factor/recovery-codes/")
    kept = recovery.context["unused_codes"]

    by_code, by_recovery, twice = Client(), Client(), Client()
    for client, code in (
        (by_code, code_of(secret)),
        (by_recovery, kept[0]),
        (twice, kept[0]),
    ):
        sign_in(client, operator)
        client.post("/accounts/second-factor/code/", {"code": code})

    assert by_code.get(ADMIN).status_code == HTTPStatus.OK
    assert by_recovery.get(ADMIN).status_code == HTTPStatus.OK
    assert "_auth_user_id" not in twice.session


def test_a_session_without_the_code_is_asked_for_it(operator, office):
    other = Client()
    other.force_login(operator)

    reply = other.get(ADMIN)

    assert reply["Location"] == "/accounts/second-factor/confirm/?next=%2Fadmin%2F"


def test_the_way_on_leads_to_no_other_site(operator):
    client = Client()
    sign_in(client, operator)

    secret = (
        client.get(f"{SET_UP}?next=https://elsewhere.example/").context["form"].secret
    )
    done = client.post(SET_UP, {"code": code_of(secret)})

    assert client.get(done["Location"]).context["onward"] == "/"


def test_createsuperuser_makes_the_first_operator():
    call_command("createsuperuser", "--no-input", email="First@Assay.example")

    made = Member.objects.get()
    assert (made.email, made.is_staff, made.is_superuser) == (
        "first@assay.example",
        True,
        True,
    )


def test_every_table_has_a_page_and_most_are_read_only(office):
    site = admin.site
    changeable, addable = set(), set()
    for model, page in site._registry.items():
        name = f"{model._meta.app_label}/{model._meta.model_name}"
        reply = office.get(f"{ADMIN}{name}/")
        assert reply.status_code == HTTPStatus.OK, name
        request = reply.wsgi_request
        assert not page.has_delete_permission(request), name
        if page.has_add_permission(request):
            addable.add(name)
        if page.has_change_permission(request):
            changeable.add(name)

    assert changeable == {"accounts/organisation"}
    assert addable == {"labs/catalogueupdate"}


def test_the_admin_has_its_own_content_policy(office):
    policy = office.get(ADMIN)["Content-Security-Policy"]

    assert "script-src 'self' 'unsafe-eval'" in policy
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "default-src 'self'" in policy


def test_an_opened_row_of_a_tenant_is_in_its_audit(office, operator, alice_tenant):
    job = make_parsing_job(user=make_user(tenant=alice_tenant))

    reply = office.get(f"{ADMIN}reports/parsingjob/{job.pk}/change/")

    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="read")
    assert reply.status_code == HTTPStatus.OK
    assert (entry.subject, entry.subject_id, entry.actor_label) == (
        "parsingjob",
        str(job.pk),
        operator.email,
    )


def test_contents_stay_with_the_team(office, alice_tenant):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user)
    job.metadata = {"patient_last_name": "Quillfeather"}
    job.save(update_fields=["metadata"])
    info = record_user_info(
        user=user, actor=ACTOR, request=info_request(last_name="Quillfeather")
    )

    pages = [
        office.get(f"{ADMIN}reports/parsingjob/{job.pk}/change/"),
        office.get(f"{ADMIN}users/userinfo/{info.pk}/change/"),
        office.get(f"{ADMIN}users/userinfo/"),
    ]

    assert [page.status_code for page in pages] == [HTTPStatus.OK] * 3
    assert all(b"Quillfeather" not in page.content for page in pages)


def test_jobs_are_found_by_a_whole_id_alone(office, alice_tenant):
    job = make_parsing_job(user=make_user(tenant=alice_tenant))
    address = f"{ADMIN}reports/parsingjob/"

    assert office.get(address, {"q": str(job.pk)}).context["cl"].result_count == 1
    assert (
        office.get(address, {"q": str(job.user.uuid)}).context["cl"].result_count == 1
    )
    assert office.get(address, {"q": str(job.pk)[:8]}).context["cl"].result_count == 0


@pytest.mark.parametrize(
    "page", ["accounts/member/", "accounts/team/", "reports/parsingjob/"]
)
def test_lists_take_as_many_queries_for_many_rows_as_for_one(
    office, alice_tenant, page
):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as taken:
            office.get(f"{ADMIN}{page}")
        return len(taken)

    make_parsing_job(user=make_user(tenant=alice_tenant))
    one = queries()
    for number in range(5):
        make_member(team=alice_tenant.team, email=f"m{number}@assay.example")
        make_parsing_job(user=make_user(tenant=alice_tenant))

    assert queries() == one


def test_an_organisation_gets_another_name_and_its_teams_are_told(office, alice_team):
    organisation = alice_team.organisation
    address = f"{ADMIN}accounts/organisation/{organisation.pk}/change/"

    reply = office.post(address, {"name": " Northern Care "})

    organisation.refresh_from_db()
    assert reply.status_code == HTTPStatus.FOUND
    assert organisation.name == "Northern Care"
    for tenant in alice_team.tenants.all():
        rows = AuditEntry.objects.for_tenant(tenant).get(verb="rename_organisation")
        assert rows.changes == {"name": ["Alice Health", "Northern Care"]}


def act(office, action, *members):
    return office.post(
        f"{ADMIN}accounts/member/",
        {"action": action, "_selected_action": [str(m.pk) for m in members]},
    )


def test_an_operator_ends_and_restores_sign_in(office, bob, alice_tenant):
    session = Client()
    session.force_login(bob)
    inside = f"/t/{alice_tenant.team.slug}/sandbox/users/"

    act(office, "end_sign_in", bob)
    ended = session.get(inside)
    act(office, "restore_sign_in", bob)

    assert ended.status_code == HTTPStatus.FOUND
    bob.refresh_from_db()
    assert bob.is_active
    rows = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="allow_sign_in")
    assert [entry.changes for entry in rows.order_by("id")] == [
        {"is_active": [True, False]},
        {"is_active": [False, True]},
    ]


def test_operators_are_appointed_and_dismissed(office, bob):
    act(office, "appoint", bob)
    bob.refresh_from_db()
    appointed = bob.is_staff
    act(office, "dismiss", bob)
    bob.refresh_from_db()

    assert (appointed, bob.is_staff) == (True, False)


@pytest.mark.parametrize("action", ["end_sign_in", "dismiss"])
def test_nobody_does_it_to_themselves(office, operator, alice_tenant, action):
    act(office, action, operator)

    operator.refresh_from_db()
    assert (operator.is_active, operator.is_staff) == (True, True)
    assert not AuditEntry.objects.for_tenant(alice_tenant).filter(
        verb__in=["allow_sign_in", "make_operator"]
    )


def test_the_doctors_page_says_what_the_command_says(office):
    page = office.get(f"{ADMIN}doctor/")

    states = {check.name: state for check, state, _ in page.context["looked"]}
    assert list(states) == [check.name for check in health.CHECKS]
    assert (states["database"], states["worker"]) == ("ok", "fail")
    assert "manage.py worker" in page.content.decode()


def test_the_providers_page_counts_live_connections(office, alice_tenant):
    connect_source(user=make_user(tenant=alice_tenant), actor=ACTOR, provider="oura")

    reply = office.get(f"{ADMIN}providers/")

    counted = {
        row["provider"].slug: (row["connected"], row["error"], row["paused"])
        for row in reply.context["providers"]
    }
    assert len(counted) == len(PROVIDERS)
    assert counted["oura"] == (1, 0, 0)
    assert counted["fitbit"] == (0, 0, 0)


def test_the_isolation_page_tells_the_last_run(office):
    numbers = {"seconds": 1.0, "environment": "sandbox", "callers": 3, "tables": 2}
    numbers |= {"rows": 9, "endpoints": 4}

    empty = office.get("/admin/isolation/")
    IsolationRun.objects.create(team="before", refusals={"api": 1}, **numbers)
    last = IsolationRun.objects.create(
        team="north",
        refusals={"api": 7, "roles": 5},
        open=[["no key", "get", "v2/user/<user_id>", 200]],
        skipped=["v3/order/<order_id>"],
        **numbers,
    )
    page = office.get("/admin/isolation/")

    assert empty.context["run"] is None
    assert page.context["run"] == last
    assert [number for _, number in page.context["sweeps"]] == [7, 0, 0, 5]
    assert [run.team for run in page.context["before"]] == ["before"]
    assert "1 call was not refused" in page.text
    assert "v2/user/&lt;user_id&gt;" in page.text


def test_the_queue_page_shows_jobs_by_team_and_the_budgets(office):
    few, many = make_tenant(), make_tenant()
    enqueue_job("users.pull", tenant=few)
    for days in (0, 0, 5000):  # the clock of jobs is the database's
        after = timedelta(days=days) if days else None
        enqueue_job("users.pull", tenant=many, after=after)

    page = office.get("/admin/queue/")

    assert [
        (team["name"], team["running"], team["due"], team["later"])
        for team in page.context["teams"]
    ] == [(many.team.name, 0, 2, 1), (few.team.name, 0, 1, 0)]
    assert all(team["oldest"] for team in page.context["teams"])
    assert "explorer" in page.text
