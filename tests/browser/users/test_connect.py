from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import expect

from accounts.operations.teams.teams import change_team_settings
from tests.browser.conftest import PHONE, assert_sound, complaints
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users import conftest as source_twins
from tests.users.factories import info_request
from tests.users.operations.pulling.test_worst_days import run, sent
from tests.users.operations.pulling.test_worst_weeks import sign_in
from users import jobs
from users.models import Connection, ImportJob
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.users.demographics import record_user_info

oura_twin = source_twins.oura_twin
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = "resource,timestamp,value,unit\nheartrate,2026-03-01T08:00:00+00:00,61,bpm\n"


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_a_person_connects_sources_on_a_phone(
    visit, alice_tenant, read_reports, monkeypatch, scripts
):
    monkeypatch.setattr("users.operations.demo_sources.DEMO_DAYS", 1)
    alice_tenant.brand_information = {
        "company_name": "North Health",
        "brand_color": "#ffd400",
    }
    alice_tenant.save(update_fields=["brand_information"])
    user = make_user(tenant=alice_tenant)
    session = create_connect_link(user=user, actor=ACTOR)
    mine = {"name": "mine.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}

    with visit.page(size=PHONE, scripts=scripts) as page:
        page.goto(f"/connect/?token={sign_connect_link_token(session)}")
        expect(page).to_have_url(re.compile(rf"/connect/{session.uuid}/$"))
        page.get_by_label("Search devices and apps").fill("glucose")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("heading", level=3)).to_have_text(["Freestyle Libre"])
        page.get_by_role("button", name="Use demo data of Freestyle Libre").click()
        expect(page.get_by_text("Freestyle Libre is connected.")).to_be_visible()
        if scripts:
            assert complaints(page) == []
            page.set_viewport_size(PHONE)

        page.get_by_role("link", name="Upload file from Health files").click()
        page.get_by_label("Choose a file").set_input_files(mine)
        if scripts:
            assert_sound(page)
        page.get_by_role("button", name="Upload file").click()
        expect(page.get_by_role("heading", name="mine.csv")).to_be_visible()
        read_reports()
        if not scripts:
            page.get_by_role("link", name="Reload").click()
        expect(page.get_by_text("1 record imported.")).to_be_visible()
        page.get_by_role("link", name="Back to the list").click()
        page.get_by_role("link", name="Close").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "You can close this page"
        )

    live = Connection.objects.for_tenant(alice_tenant).live().filter(user=user)
    assert set(live.values_list("provider", flat=True)) == {"freestyle_libre", "manual"}
    assert ImportJob.objects.for_tenant(alice_tenant).get().rows_accepted == 1


def test_two_taps_in_an_email_connect_a_broken_source_again(
    visit, alice_tenant, oura_twin, settings
):
    """From the email to the source's own sign-in and back, with the history kept."""
    settings.PUBLIC_URL = visit.address
    user = make_user(tenant=alice_tenant)
    record_user_info(user=user, actor=ACTOR, request=info_request())
    noon = timezone.now().replace(hour=12)
    oura_twin.add_night(noon - timedelta(hours=33), noon - timedelta(hours=25))
    connection = sign_in(alice_tenant, "oura", oura_twin, user)
    run(connection)
    change_team_settings(
        tenant=alice_tenant,
        actor=ACTOR,
        settings={"source_reconnect_mails_enabled": True},
    )
    oura_twin.revoke_consent()
    schedule_cloud_source_refresh(connection=connection)
    run(connection)
    work = jobs.mail_user_to_connect_again
    work(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)
    (message,) = mail.outbox
    link, stop = re.findall(r"http\S+token=\S+", message.body)

    with visit.page(size=PHONE) as page:
        page.goto(link)
        expect(page.get_by_text("Stopped working")).to_be_visible()
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        page.get_by_role("link", name="Sign in again to Oura").click()
        page.get_by_role("button", name="Allow").click()
        expect(page.get_by_text("Oura is connected.")).to_be_visible()
        page.goto(stop)
        assert complaints(page) == []
        page.get_by_role("button", name="Stop emails").click()
        expect(page.get_by_role("heading", name="Emails stopped")).to_be_visible()
        assert complaints(page) == []

    kept = Connection.objects.for_tenant(alice_tenant).get()
    assert (kept.pk, kept.status) == (connection.pk, "connected")
    oura_twin.add_night(noon - timedelta(hours=9), noon - timedelta(hours=1))
    run(kept)
    assert sent(alice_tenant)["sleep"] == 2
