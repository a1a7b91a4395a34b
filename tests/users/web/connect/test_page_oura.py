"""Oura from the link to the API, against a server of its shapes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.oura import sleep_document
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted_types
from users import jobs
from users.models import Connection, SourceGrant
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.sources.sources import disconnect_source

pytestmark = pytest.mark.django_db


def test_a_ring_is_connected_by_a_link_read_by_the_api_and_given_back(
    alice_tenant, alice_api, oura, time_machine
):
    time_machine.move_to(datetime(2026, 3, 11, 12, tzinfo=UTC), tick=False)
    oura.collections["sleep"] = [sleep_document()]
    oura.scope = "extapi:daily"
    user = make_user(tenant=alice_tenant, ingestion_start=date(2026, 3, 9))
    session = create_connect_link(user=user, actor=ACTOR)
    browser = Client()
    browser.get("/connect/", {"token": sign_connect_link_token(session)})

    away = browser.get(f"/connect/{session.uuid}/oura/sign-in/")
    asked = parse_qs(urlsplit(away["Location"]).query)
    back = browser.get(
        "/connect/back/oura/", {"state": asked["state"][0], "code": "code-1"}
    )
    connection = Connection.objects.for_tenant(alice_tenant).get()
    jobs.pull_connection_data(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert away["Location"].startswith(f"{oura.url}/oauth/authorize?")
    assert "connected=oura" in back["Location"]
    answer = alice_api.get(f"/v2/summary/sleep/{user.uuid}?start_date=2026-03-10")
    (sleep,) = answer.json()["sleep"]
    assert sleep["calendar_date"] == "2026-03-10"
    assert (sleep["deep"], sleep["hr_lowest"]) == (900, 52)
    assert "historical.data.sleep.created" in emitted_types(alice_tenant)

    disconnect_source(user=user, actor=ACTOR, provider="oura")
    assert "users.revoke" in [job.name for job in queued()]
    jobs.revoke_connection_grant(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert [form["token"] for form in oura.asked_for("/oauth/revoke")] == ["refresh-1"]
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()
