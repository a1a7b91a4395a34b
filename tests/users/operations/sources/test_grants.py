from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection as database
from django.utils import timezone

from portal.lib.secrets.encryption import decrypt_secret
from tests.factories.accounts import ACTOR
from tests.factories.grants import make_grant, make_granted
from tests.factories.users import make_user
from tests.jobs import queued
from tests.users.gateways.oura_server import status
from users import jobs
from users.gateways.base import (
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.oura.gateway import OuraGateway
from users.gateways.sources import find_source_gateway
from users.models import Connection, SourceGrant
from users.operations.sources.grants import (
    REVOKED_WITHIN,
    delete_connection_tokens,
    get_valid_connection_tokens,
    renew_connection_tokens,
    revoke_grant_at_source,
    store_connection_tokens,
)
from users.operations.sources.sources import connect_source, disconnect_source
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def kept(tenant):
    return SourceGrant.objects.for_tenant(tenant).get()


def tokens(tenant):
    grant = kept(tenant)
    return decrypt_secret(grant.access_token), decrypt_secret(grant.refresh_token)


def renew(connection, spent=1):
    return renew_connection_tokens(
        connection=connection, gateway=find_source_gateway("oura"), spent=spent
    )


def test_tokens_are_kept_encrypted(user, alice_tenant):
    make_granted(user)

    grant = kept(alice_tenant)
    assert "access-1" not in grant.access_token
    assert "refresh-1" not in grant.refresh_token
    assert tokens(alice_tenant) == ("access-1", "refresh-1")
    assert grant.rotation == 1


def test_new_tokens_take_the_place_of_the_old(user, alice_tenant):
    connection = make_granted(user)

    store_connection_tokens(
        connection=connection, grant=make_grant(access_token="other")
    )

    assert tokens(alice_tenant) == ("other", "refresh-1")
    assert kept(alice_tenant).rotation == 2


def test_tokens_that_last_are_used_as_they_are(user, oura):
    ends = timezone.now() + timedelta(hours=1)
    connection = make_granted(user, expires_at=ends)

    usable = get_valid_connection_tokens(
        connection=connection, gateway=find_source_gateway("oura")
    )

    assert usable.rotation == 1
    assert usable.grant.access_token == "access-1"
    assert oura.trades == 0


def test_tokens_about_to_end_are_traded_first(user, alice_tenant, oura):
    oura.trades = 6
    ends = timezone.now() + timedelta(minutes=4)
    connection = make_granted(user, expires_at=ends)

    usable = get_valid_connection_tokens(
        connection=connection, gateway=find_source_gateway("oura")
    )

    assert usable.rotation == 2
    assert usable.grant.access_token == "access-7"
    assert tokens(alice_tenant) == ("access-7", "refresh-7")
    assert kept(alice_tenant).expires_at > timezone.now() + timedelta(hours=23)
    assert kept(alice_tenant).claimed_until is None


def test_who_comes_late_gets_what_the_first_stored(user, oura):
    connection = make_granted(user)
    first = renew(connection)

    late = renew(connection)

    assert late == first
    assert oura.trades == 1


def test_who_comes_meanwhile_is_told_to_come_again(user, alice_tenant, oura):
    connection = make_granted(user)
    SourceGrant.objects.for_tenant(alice_tenant).update(
        claimed_until=timezone.now() + timedelta(seconds=30)
    )

    with pytest.raises(SourceUnavailable) as away:
        renew(connection)

    assert away.value.reason == "tokens_claimed"
    assert away.value.retry_after == timedelta(seconds=5)
    assert oura.trades == 0


def test_a_token_that_a_dead_worker_may_have_sent_is_never_sent_again(
    user, alice_tenant, oura
):
    connection = make_granted(user)
    SourceGrant.objects.for_tenant(alice_tenant).update(
        claimed_until=timezone.now() - timedelta(seconds=1)
    )

    with pytest.raises(SourceRefused) as refused:
        renew(connection)

    assert refused.value.fault == ConnectionFault.TOKEN_REFRESH_FAILED
    assert oura.asked == []
    assert tokens(alice_tenant) == ("access-1", "refresh-1")


def test_who_connected_anew_during_a_trade_keeps_the_new_tokens(
    user, alice_tenant, oura, monkeypatch
):
    connection = make_granted(user)
    trade = OuraGateway.refresh_tokens

    def reconnect_meanwhile(gateway, grant):
        store_connection_tokens(
            connection=connection, grant=make_grant(access_token="anew")
        )
        return trade(gateway, grant)

    monkeypatch.setattr(OuraGateway, "refresh_tokens", reconnect_meanwhile)

    kept = renew(connection)

    assert (kept.rotation, kept.grant.access_token) == (2, "anew")
    assert tokens(alice_tenant) == ("anew", "refresh-1")


def test_where_tokens_can_be_sent_again_the_claim_of_a_dead_worker_passes(
    user, alice_tenant, oura, monkeypatch
):
    monkeypatch.setattr(OuraGateway, "reuses_refresh_tokens", True)
    connection = make_granted(user)
    SourceGrant.objects.for_tenant(alice_tenant).update(
        claimed_until=timezone.now() - timedelta(seconds=1)
    )

    assert renew(connection).rotation == 2


@pytest.mark.django_db(transaction=True)
def test_of_workers_at_once_one_trades(alice_tenant, oura):
    connection = make_granted(make_user(tenant=alice_tenant))

    def attempt(_number):
        try:
            return renew(connection).grant.access_token
        except SourceUnavailable as away:
            return away.reason
        finally:
            database.close()

    with ThreadPoolExecutor(4) as workers:
        outcomes = set(workers.map(attempt, range(4)))

    assert oura.trades == 1
    assert outcomes <= {"access-1", "tokens_claimed"}
    assert kept(alice_tenant).rotation == 2


def test_a_trade_that_got_no_answer_leaves_all_as_it_was(user, alice_tenant, oura):
    connection = make_granted(user)
    oura.faults["/oauth/token"] = [status(503)]

    with pytest.raises(SourceUnavailable):
        renew(connection)

    assert kept(alice_tenant).rotation == 1
    assert kept(alice_tenant).claimed_until is None
    assert renew(connection).rotation == 2


@pytest.mark.parametrize("refresh_token", ["revoked", ""])
def test_a_dead_refresh_token_is_refused(user, alice_tenant, oura, refresh_token):
    connection = make_granted(user, refresh_token=refresh_token)

    with pytest.raises(SourceRefused) as refused:
        renew(connection)

    assert refused.value.fault == ConnectionFault.TOKEN_REFRESH_FAILED
    assert kept(alice_tenant).rotation == 1
    assert kept(alice_tenant).claimed_until is None


def test_tokens_that_no_present_key_opens_are_refused(user, oura, settings):
    connection = make_granted(user)
    settings.ENCRYPTION_KEYS = ["another key, long and random enough for a test"]

    with pytest.raises(SourceRefused) as refused:
        get_valid_connection_tokens(
            connection=connection, gateway=find_source_gateway("oura")
        )

    assert refused.value.fault == ConnectionFault.TOKEN_REFRESH_FAILED


def test_a_connection_without_tokens_is_refused(user, oura):
    connection = connect_source(user=user, actor=ACTOR, provider="oura")

    with pytest.raises(SourceRefused):
        get_valid_connection_tokens(
            connection=connection, gateway=find_source_gateway("oura")
        )


def test_disconnecting_gives_the_permission_back(user, alice_tenant, oura):
    connection = make_granted(user)

    disconnect_source(user=user, actor=ACTOR, provider="oura")
    (job,) = queued()
    revoke_grant_at_source(tenant=alice_tenant, connection_pk=connection.pk)
    revoke_grant_at_source(tenant=alice_tenant, connection_pk=connection.pk)

    assert job.name == "users.revoke"
    assert job.inputs["connection_pk"] == connection.pk
    assert [form["token"] for form in oura.asked_for("/oauth/revoke")] == ["refresh-1"]
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()


def test_disconnecting_a_source_without_tokens_asks_nobody(user):
    connect_source(user=user, actor=ACTOR, provider="oura")

    disconnect_source(user=user, actor=ACTOR, provider="oura")

    assert queued() == []


def test_a_live_connection_keeps_its_tokens(user, alice_tenant, oura):
    connection = make_granted(user)

    revoke_grant_at_source(tenant=alice_tenant, connection_pk=connection.pk)
    delete_connection_tokens(tenant=alice_tenant, connection_pk=connection.pk)

    assert tokens(alice_tenant) == ("access-1", "refresh-1")
    assert oura.asked == []


def test_tokens_stay_until_the_source_took_them_back_or_is_given_up(
    user, alice_tenant, oura
):
    connection = make_granted(user)
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    oura.faults["/oauth/revoke"] = [status(503)]

    jobs.revoke_connection_grant(tenant_pk=alice_tenant.pk, connection_pk=connection.pk)

    assert [job.name for job in queued()] == ["users.revoke"] * 2
    assert tokens(alice_tenant) == ("access-1", "refresh-1")
    delete_connection_tokens(tenant=alice_tenant, connection_pk=connection.pk)
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()


def test_a_source_that_stays_away_is_given_up_and_the_tokens_forgotten(
    user, alice_tenant, oura
):
    connection = make_granted(user)
    disconnect_source(user=user, actor=ACTOR, provider="oura")
    Connection.objects.for_tenant(alice_tenant).update(
        disconnected_at=timezone.now() - REVOKED_WITHIN
    )
    oura.faults["/oauth/revoke"] = [status(503)]

    wait = revoke_grant_at_source(tenant=alice_tenant, connection_pk=connection.pk)

    assert wait is None
    assert not SourceGrant.objects.for_tenant(alice_tenant).exists()


def test_another_team_s_worker_finds_no_tokens(user, charlie_tenant, oura):
    connection = make_granted(user)
    disconnect_source(user=user, actor=ACTOR, provider="oura")

    revoke_grant_at_source(tenant=charlie_tenant, connection_pk=connection.pk)

    assert oura.asked == []
    assert kept(user.tenant).rotation == 1
