"""Pages by which members and users share results, and their lists of links."""

from __future__ import annotations

from datetime import date

import pytest
from django.test import Client

from accounts.models import Membership
from accounts.operations.teams.teams import change_team_settings
from accounts.states import Role
from exchange.models import SharedLink
from exchange.queries.shareable import list_shareable_reports
from labs.operations.portal_links import create_portal_link
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.clinical import make_chart
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import LinkSession
from users.operations.connect.birth_dates import WRONG_BIRTH_DATES_MAX
from users.operations.connect.link_sessions import (
    build_connect_link_url,
    create_connect_link,
)
from users.states.links import PortalContext

pytestmark = pytest.mark.django_db
BORN = date(1988, 4, 2)


@pytest.fixture
def chart(alice_tenant):
    return make_chart(tenant=alice_tenant)


@pytest.fixture
def report(chart):
    [listed] = list_shareable_reports(
        tenant=chart.user.tenant, user_uuid=chart.user.uuid
    )
    return listed


@pytest.fixture
def portal(chart):
    """A browser in the user's portal, whose team lets users share, and the address."""
    change_team_settings(
        tenant=chart.user.tenant, actor=ACTOR, settings={"user_sharing_enabled": True}
    )
    session = create_portal_link(
        user=chart.user, actor=ACTOR, context=PortalContext.LAUNCH
    )
    client = Client()
    client.get("/connect/?" + build_connect_link_url(session).partition("?")[2])
    return client, f"/connect/{session.uuid}/share/"


def test_a_member_shares_signed_results_and_revokes_the_link(
    alice_web, alice, alice_tenant, chart, report
):
    place = f"/t/alice-health/sandbox/users/{chart.user.uuid}/shared-links/"
    page = alice_web.get(f"/t/alice-health/sandbox/users/{chart.user.uuid}/")

    empty = alice_web.post(place, {"lasts": "7"})
    foreign = alice_web.post(place, {"reports": [chart.order.pk], "lasts": "7"})
    before = SharedLink.objects.for_tenant(alice_tenant).count()
    made = alice_web.post(
        place,
        {"reports": [report.id], "lasts": "30", "label": "Visit", "has_passcode": "on"},
    )
    again = alice_web.get(place)
    link = SharedLink.objects.for_tenant(alice_tenant).get()
    question = alice_web.get(f"{place}{link.pk}/revoke/")
    unchanged = SharedLink.objects.for_tenant(alice_tenant).get().is_open
    revoked = alice_web.post(f"{place}{link.pk}/revoke/", follow=True)

    assert place in page.content.decode()
    assert (empty.status_code, foreign.status_code, before) == (422, 422, 0)
    text = made.content.decode()
    assert made.context["made"].passcode in text
    assert "#shlink:/" in text
    assert "no-store" in made["Cache-Control"]
    assert "#shlink:/" not in again.content.decode()  # shown once
    assert (link.label, link.made_by) == ("Visit", alice.email)
    assert (question.status_code, unchanged) == (200, True)
    assert revoked.redirect_chain == [(place, 302)]
    assert not SharedLink.objects.for_tenant(alice_tenant).get().is_open
    verbs = [verb for verb, subject, _ in audited(alice_tenant) if "shared" in subject]
    assert verbs == [
        "read",
        "read",
        "create_shared_link",
        "read",
        "read",
        "revoke_shared_link",
        "read",
    ]
    Membership.objects.filter(member=alice).update(roles=[Role.DEVELOPER])
    assert alice_web.get(place).status_code == 403


def test_a_user_shares_in_the_portal_with_their_birth_date(
    portal, alice_tenant, alice_web, chart, report
):
    client, place = portal
    front = client.get(place.removesuffix("share/")).content.decode()
    body = {"reports": [report.id], "lasts": "1", "has_passcode": "on"}

    shown = client.get(place).content.decode()
    refused = [
        client.post(place, body),
        client.post(place, {**body, "birth_date": "x"}),
    ]
    wrong = client.post(place, {**body, "birth_date": "1988-02-04"})
    none = SharedLink.objects.for_tenant(alice_tenant).count()
    made = client.post(place, {**body, "birth_date": BORN.isoformat()})

    assert place in front
    assert report.id in shown
    assert "85.1" not in shown  # no value
    assert [each.status_code for each in [*refused, wrong]] == [422] * 3
    assert "birth_date" in wrong.context["form"].errors
    assert none == 0
    assert made.context["made"].passcode in made.content.decode()
    link = SharedLink.objects.for_tenant(alice_tenant).get()
    assert link.is_users_own
    session = LinkSession.objects.for_tenant(alice_tenant).get()
    assert session.wrong_birth_dates == 1
    by_member = f"/t/alice-health/sandbox/users/{chart.user.uuid}/shared-links/"
    assert str(link.pk) in alice_web.get(by_member).content.decode()
    revoked = client.post(f"{place}{link.pk}/revoke/")
    assert (revoked.status_code, revoked["Location"]) == (302, place)
    assert not SharedLink.objects.for_tenant(alice_tenant).get().is_open
    assert client.post(f"{place}{link.pk}/revoke/").status_code == 302
    assert client.post(f"{place}no-id/revoke/").status_code == 404


def test_the_portal_shares_nothing_for_others(
    portal, alice_tenant, alice_web, chart, report
):
    client, place = portal
    by_member = f"/t/alice-health/sandbox/users/{chart.user.uuid}/shared-links/"
    alice_web.post(by_member, {"reports": [report.id], "lasts": "7"})
    link = SharedLink.objects.for_tenant(alice_tenant).get()
    body = {"reports": [report.id], "lasts": "1"}
    other = make_user(tenant=alice_tenant, client_user_id="no-birth-date")
    plain = create_connect_link(user=chart.user, actor=ACTOR)
    unknown = create_portal_link(user=other, actor=ACTOR, context=PortalContext.LAUNCH)
    for session in (plain, unknown):
        client.get("/connect/?" + build_connect_link_url(session).partition("?")[2])

    for _ in range(WRONG_BIRTH_DATES_MAX):
        client.post(place, {**body, "birth_date": "1990-01-01"})
    before = stored_rows(alice_tenant)
    right = client.post(place, {**body, "birth_date": BORN.isoformat()})

    assert right.status_code == 422
    assert client.post(f"{place}{link.pk}/revoke/").status_code == 404
    assert client.get(f"/connect/{plain.uuid}/share/").status_code == 404
    assert Client().get(place).status_code == 404
    front = client.get(f"/connect/{unknown.uuid}/").content.decode()
    assert f"/connect/{unknown.uuid}/share/" not in front
    assert {
        key: rows
        for key, rows in stored_rows(alice_tenant).items()
        if "audit" not in str(key).lower()
    } == {key: rows for key, rows in before.items() if "audit" not in str(key).lower()}


def test_a_team_turns_sharing_by_users_on_and_off(
    portal, alice_tenant, alice_web, chart, report
):
    client, place = portal
    front = place.removesuffix("share/")
    body = {"reports": [report.id], "lasts": "1", "birth_date": BORN.isoformat()}
    client.post(place, body)
    link = SharedLink.objects.for_tenant(alice_tenant).get()

    off = alice_web.post("/t/alice-health/sandbox/settings/behaviour/", {})
    refused = client.post(place, body)
    shown = client.get(place).content.decode()

    assert off.status_code == 302
    assert audited(alice_tenant)[-3][0] == "change_settings"
    assert place not in client.get(front).content.decode()
    assert refused.status_code == 422
    assert 'name="birth_date"' not in shown
    # What was made before is there to be revoked; without any there is no page.
    assert SharedLink.objects.for_tenant(alice_tenant).get().is_open
    assert client.post(f"{place}{link.pk}/revoke/").status_code == 302
    assert not SharedLink.objects.for_tenant(alice_tenant).get().is_open
    SharedLink.objects.for_tenant(alice_tenant).delete()
    assert client.get(place).status_code == 404
    assert client.post(place, body).status_code == 404
    assert not SharedLink.objects.for_tenant(alice_tenant).exists()


def test_the_viewer_knows_nothing_and_loads_nothing_from_elsewhere(client):
    page = client.get("/shl/")

    text = page.content.decode()
    assert page.status_code == 200
    assert page["Referrer-Policy"] == "no-referrer"
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
