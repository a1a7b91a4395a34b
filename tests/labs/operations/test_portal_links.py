from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from labs.operations.portal_links import PORTAL_TTL
from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_lab_document
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection, LinkSession
from users.operations.connect.link_sessions import (
    build_connect_link_url,
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user
from users.states.links import PortalContext

pytestmark = pytest.mark.django_db
PATH = "/v2/user/{user_id}/create_portal_url"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_20418")


def path_of(user):
    return f"/v2/user/{user.uuid}/create_portal_url"


def opened(url):
    """A browser that has opened a link, and the page it was led to."""
    browser = Client()
    reply = browser.get(url.partition("http://testserver")[2] or url)
    return browser, reply["Location"]


@pytest.mark.parametrize(
    ("context", "seconds"), [("launch", 1800), ("communications", 604800)]
)
def test_a_key_makes_a_portal_link(alice_api, alice_tenant, user, context, seconds):
    reply = alice_api.post(path_of(user), {"context": context})

    session = LinkSession.objects.for_tenant(alice_tenant).get()
    check_answer(reply, "post", PATH)
    assert reply.json() == {
        "url": build_connect_link_url(session),
        "expires_in": seconds,
    }
    assert session.opens_portal
    left = session.expires_at - timezone.now()
    assert timedelta(seconds=seconds - 60) < left <= timedelta(seconds=seconds)
    assert audited(alice_tenant)[-1] == (
        "create_link_session",
        "link_session",
        str(session.uuid),
    )


def test_a_body_at_fault_or_of_another_makes_no_portal_link(
    alice_api, charlie_api, alice_tenant, user
):
    other = make_user(tenant=alice_tenant, client_user_id="mbr_2")
    theirs = make_order(tenant=alice_tenant, user=other)
    before = stored_rows(alice_tenant)
    launch = {"context": "launch"}

    wrong = alice_api.post(path_of(user), {"context": "poster"})
    missing = alice_api.post(path_of(user), {})
    refused = [
        alice_api.post(path_of(user), {**launch, "order_id": str(theirs.pk)}),
        alice_api.post(path_of(user), {**launch, "order_id": str(uuid4())}),
        charlie_api.post(path_of(user), launch),
    ]

    assert error_lines(wrong) == [(["body", "context"], "enum")]
    assert error_lines(missing) == [(["body", "context"], "missing")]
    assert [reply.status_code for reply in refused] == [404, 404, 404]
    assert stored_rows(alice_tenant) == before


def test_the_portal_shows_one_users_sources_and_tests_and_names_nobody(
    alice_api, alice_tenant, user, django_assert_num_queries
):
    first = make_order(tenant=alice_tenant, user=user)
    make_order(tenant=alice_tenant, user=user)
    other = make_user(tenant=alice_tenant, client_user_id="mbr_2")
    make_order(tenant=alice_tenant, user=other)
    connect_source(user=user, actor=ACTOR, provider="oura")
    made = alice_api.post(
        path_of(user), {"context": "launch", "order_id": str(first.pk)}
    )
    browser, address = opened(made.json()["url"])

    # Tenant, session, connections, credentials and tests; the audit is not counted.
    with django_assert_num_queries(5):
        page = browser.get(address)

    text = page.content.decode()
    shown = page.context["tests"]
    assert (len(shown), shown[0].ordered_at) == (2, first.created_at)
    assert shown[0].name == first.lab_test.name
    assert f"{address}oura/disconnect/" in text
    assert user.client_user_id not in text
    assert str(user.uuid) not in text
    assert first.patient_name not in text
    assert audited(alice_tenant)[-2:] == [
        ("read", "sources", str(user.uuid)),
        ("read", "orders", str(user.uuid)),
    ]


def test_the_portal_says_that_the_lab_s_document_came_and_does_not_open_it(
    alice_api, alice_tenant, user
):
    order = make_order(tenant=alice_tenant, user=user)
    url = alice_api.post(path_of(user), {"context": "launch"}).json()["url"]
    browser, place = opened(url)
    before = browser.get(place).content.decode()
    with time_machine.travel("2026-03-02T09:00Z", tick=False):
        document = make_lab_document(order=order)
        make_lab_document(order=order, status="reference", pointer="//lab/x")

    page = browser.get(place).content.decode()

    assert "The lab's report came" not in before
    assert "The lab's report came on 2 Mar 2026." in page
    assert str(document.pk) not in page
    assert "Lab report" not in page
    assert "//lab/x" not in page


def test_a_person_disconnects_a_source_in_the_portal_alone(
    alice_api, alice_tenant, user
):
    connect_source(user=user, actor=ACTOR, provider="oura")
    made = alice_api.post(path_of(user), {"context": "launch"})
    browser, address = opened(made.json()["url"])
    plain = create_connect_link(user=user, actor=ACTOR)
    browser.get("/connect/", {"token": sign_connect_link_token(plain)})
    live = Connection.objects.for_tenant(alice_tenant).live()

    by_link = browser.post(f"/connect/{plain.uuid}/oura/disconnect/")
    by_nobody = Client().post(f"{address}oura/disconnect/")
    unknown = browser.post(f"{address}fitbit/disconnect/")
    asked = browser.get(f"{address}oura/disconnect/")
    before = live.count()
    done = browser.post(f"{address}oura/disconnect/", follow=True)

    refused = [each.status_code for each in (by_link, by_nobody, unknown)]
    assert refused == [404, 404, 404]
    assert (asked.status_code, before, live.count()) == (200, 1, 0)
    assert done.context["disconnected"] == "Oura"
    assert "disconnect_source" in [verb for verb, _, _ in audited(alice_tenant)]


def test_a_portal_ends_with_its_time_and_its_user(alice_api, alice_tenant, user):
    made = alice_api.post(path_of(user), {"context": "launch"})
    browser, address = opened(made.json()["url"])

    ended = timezone.now() + PORTAL_TTL[PortalContext.LAUNCH]
    with time_machine.travel(ended, tick=False):
        late = browser.get(address)
    delete_user(user=user, actor=ACTOR)
    gone = browser.get(address)

    assert (late.status_code, gone.status_code) == (410, 404)
