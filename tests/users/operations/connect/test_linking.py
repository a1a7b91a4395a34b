from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from portal.lib.errors import DomainError, NotFound
from portal.lib.secrets.encryption import encrypt_secret
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.gateways.applications import ClientCredentials
from users.models import Connection, ImportJob
from users.operations.connect.link_sessions import LinkRequest, create_connect_link
from users.operations.connect.linking import (
    SignIn,
    connect_demo_source_from_link,
    find_connectable_source,
    finish_source_sign_in,
    import_file_from_connect_link,
    list_connect_page_sources,
    parse_source_sign_in_state,
)
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.sources import connect_source
from users.states import ConnectionFault
from users.states.links import Kind, Way

pytestmark = pytest.mark.django_db
LATE = datetime(2100, 1, 1, tzinfo=UTC)
ROWS = b"resource,timestamp,value,unit\nheartrate,2026-03-01T08:00:00+00:00,61,bpm\n"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def cloud(monkeypatch):
    source = FakeSource("fitbit")
    monkeypatch.setattr("users.gateways.sources.SOURCE_GATEWAYS", {"fitbit": source})
    return source


def session_for(user, **wanted):
    return create_connect_link(user=user, actor=ACTOR, request=LinkRequest(**wanted))


def ways_of(session):
    return {
        each.provider.slug: each.ways for each in list_connect_page_sources(session)
    }


def test_only_what_can_be_connected_or_is_connected_is_listed(user, cloud):
    connect_source(user=user, actor=ACTOR, provider="dexcom_v3")

    production = ways_of(session_for(user))

    assert production["fitbit"][0] == Way.SIGN_IN
    assert production["dexcom_v3"] == ()
    assert Way.FILE in production["manual"]
    assert "zwift" not in production


def test_a_source_that_is_not_configured_is_not_offered(user, cloud):
    cloud.credentials = ClientCredentials("", "")

    assert Way.SIGN_IN not in ways_of(session_for(user)).get("fitbit", ())


def test_a_broken_source_can_be_signed_in_to_again_and_a_working_one_not(user, cloud):
    connection = connect_source(user=user, actor=ACTOR, provider="fitbit")
    session = session_for(user)
    working = list_connect_page_sources(session)
    mark_connection_failed(
        connection=connection, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    broken = find_connectable_source(session, "fitbit", Way.SIGN_IN)

    (fitbit,) = (each for each in working if each.provider.slug == "fitbit")
    assert (fitbit.is_connected, fitbit.ways) == (True, ())
    assert (broken.is_connected, broken.needs_reconnection) == (False, True)


def test_demo_sources_are_for_the_sandbox_until_a_real_one_is_connected(
    user, alice_production
):
    elsewhere = make_user(tenant=alice_production)
    sandbox, production = session_for(user), session_for(elsewhere)
    before = ways_of(sandbox)
    connect_source(user=user, actor=ACTOR, provider="oura", is_demo=True)
    beside_demo = ways_of(sandbox)
    connect_source(user=user, actor=ACTOR, provider="dexcom_v3")

    assert before["oura"][-1] == Way.DEMO
    assert Way.DEMO not in beside_demo["oura"]
    assert Way.DEMO in beside_demo["freestyle_libre"]
    assert "freestyle_libre" not in ways_of(sandbox)
    assert "freestyle_libre" not in ways_of(production)


def test_demo_data_is_connected_at_once(user, alice_tenant, monkeypatch):
    monkeypatch.setattr("users.operations.demo_sources.DEMO_DAYS", 1)
    session = session_for(user)

    connect_demo_source_from_link(
        session=session, actor=ACTOR, provider="freestyle_libre"
    )

    connection = Connection.objects.for_tenant(alice_tenant).get()
    assert (connection.provider, connection.is_demo) == ("freestyle_libre", True)
    with pytest.raises(NotFound):
        connect_demo_source_from_link(
            session=session, actor=ACTOR, provider="freestyle_libre"
        )


def test_one_source_or_some_can_be_all_there_is(user, cloud):
    assert set(ways_of(session_for(user, provider="fitbit"))) == {"fitbit"}
    assert set(
        ways_of(session_for(user, filter_on_providers=("fitbit", "manual", "zwift")))
    ) == {"fitbit", "manual"}


def test_a_source_of_types_we_do_not_know_is_among_the_apps(user):
    connect_source(user=user, actor=ACTOR, provider="whoop_v2")

    kinds = {
        each.provider.slug: each.kind
        for each in list_connect_page_sources(session_for(user))
    }

    assert kinds["whoop_v2"] == Kind.PHONE
    assert kinds["manual"] == Kind.FILES


def test_a_file_is_taken_for_the_links_user(user, alice_tenant):
    session = session_for(user)

    job = import_file_from_connect_link(
        session=session,
        actor=ACTOR,
        provider="manual",
        file=SimpleUploadedFile("mine.csv", ROWS),
    )

    kept = ImportJob.objects.for_tenant(alice_tenant).get()
    assert kept.id == job.id
    assert (kept.user, kept.file_name) == (user, "mine.csv")


def test_a_file_of_a_source_that_is_not_offered_is_refused(user, alice_tenant):
    session = session_for(user, filter_on_providers=("apple_health_kit",))
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound) as refused:
        import_file_from_connect_link(
            session=session,
            actor=ACTOR,
            provider="manual",
            file=SimpleUploadedFile("mine.csv", ROWS),
        )

    assert refused.value.code == "source_not_offered"
    assert stored_rows(alice_tenant) == before
    assert not ImportJob.objects.for_tenant(alice_tenant).exists()


@pytest.mark.parametrize(
    "state",
    ["", "x", "x" * 5000, lambda: encrypt_secret("[]"), lambda: encrypt_secret("{}")],
)
def test_a_state_that_is_not_ours_is_unknown(state):
    with pytest.raises(DomainError) as refused:
        parse_source_sign_in_state(state if isinstance(state, str) else state())

    assert refused.value.code == "sign_in_unknown"


def test_nothing_is_asked_for_a_source_that_went_out_of_the_offer(user, cloud):
    session = session_for(user)
    cloud.credentials = ClientCredentials("", "")

    with pytest.raises(NotFound):
        finish_source_sign_in(
            session=session,
            actor=ACTOR,
            sign_in=SignIn(session.uuid, "fitbit", "secret", LATE),
            code="good",
        )

    assert cloud.connected == []
