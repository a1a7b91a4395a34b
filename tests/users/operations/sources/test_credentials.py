from __future__ import annotations

import pytest

from portal.lib.errors import DomainError, NotFound
from portal.lib.secrets.encryption import decrypt_secret
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.gateways.applications import CredentialField
from users.gateways.base import (
    Grant,
)
from users.models import SourceCredentials, SourceGrant
from users.operations.sources.cloud_sources import connect_cloud_source
from users.operations.sources.credentials import (
    find_connection_gateway,
    find_team_source_gateway,
    list_source_setups,
    list_team_source_gateways,
    remove_source_credentials,
    save_source_credentials,
    try_source_credentials,
)
from users.states.credentials import CredentialsState

pytestmark = pytest.mark.django_db
SECRET = "team-secret"


@pytest.fixture(autouse=True)
def fitbit(monkeypatch):
    source = FakeSource("fitbit")
    monkeypatch.setattr("users.gateways.sources.SOURCE_GATEWAYS", {"fitbit": source})
    return source


def save(tenant, client_id="team-id", client_secret=SECRET, **more):
    return save_source_credentials(
        tenant=tenant,
        actor=ACTOR,
        provider="fitbit",
        client_id=client_id,
        client_secret=client_secret,
        more=more,
    )


def used(tenant, issued_to=""):
    gateway = find_team_source_gateway(
        tenant=tenant, provider="fitbit", issued_to=issued_to
    )
    return gateway and (
        gateway.credentials.client_id,
        gateway.credentials.client_secret,
    )


def stored(tenant):
    return SourceCredentials.objects.for_tenant(tenant).get()


def test_a_team_s_application_comes_before_the_installation_s(
    alice_tenant, charlie_tenant
):
    saved = save(alice_tenant)

    assert used(alice_tenant) == ("team-id", "team-secret")
    assert used(charlie_tenant) == ("fake-id", "fake-secret")
    assert saved.state == CredentialsState.WORKING
    assert saved.tried_at is not None
    assert "team-secret" not in stored(alice_tenant).client_secret
    assert decrypt_secret(stored(alice_tenant).client_secret) == "team-secret"
    assert audited(alice_tenant)[-1] == (
        "save_source_credentials",
        "source_credentials",
        "fitbit",
    )


def test_the_environments_of_a_team_have_credentials_of_their_own(
    alice_tenant, alice_production
):
    save(alice_tenant)

    assert used(alice_production) == ("fake-id", "fake-secret")


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"client_secret": "wrong"}, "credentials_rejected", "client_secret"),
        ({"client_id": " "}, "client_id_missing", "client_id"),
        (
            {"client_id": "other", "client_secret": ""},
            "client_secret_missing",
            "client_secret",
        ),
    ],
)
def test_what_the_source_or_we_refuse_changes_nothing(alice_tenant, given, code, field):
    save(alice_tenant)
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refused:
        save(alice_tenant, **given)

    assert (refused.value.code, refused.value.field) == (code, field)
    assert stored_rows(alice_tenant) == before


def test_a_secret_is_rotated_and_an_empty_one_kept(alice_tenant):
    save(alice_tenant)
    save(alice_tenant, client_secret="newer")
    rotated = used(alice_tenant)
    save(alice_tenant, client_secret="")

    assert rotated == ("team-id", "newer")
    assert used(alice_tenant) == ("team-id", "newer")


def test_a_source_that_does_not_answer_leaves_them_untried(alice_tenant):
    saved = save(alice_tenant, client_secret="slow")

    assert (saved.state, saved.tried_at) == (CredentialsState.UNANSWERED, None)
    assert used(alice_tenant) == ("team-id", "slow")


def test_a_secret_that_expired_at_the_source_is_found_by_a_try(
    alice_tenant, monkeypatch
):
    save(alice_tenant)
    monkeypatch.setattr(FakeSource, "check_credentials", lambda *_, **__: False)

    state = try_source_credentials(tenant=alice_tenant, actor=ACTOR, provider="fitbit")

    assert state == CredentialsState.REJECTED
    assert stored(alice_tenant).state == CredentialsState.REJECTED
    assert used(alice_tenant) == ("team-id", "team-secret")


def test_removed_credentials_leave_the_installation_s(alice_tenant):
    save(alice_tenant)

    remove_source_credentials(tenant=alice_tenant, actor=ACTOR, provider="fitbit")

    assert used(alice_tenant) == ("fake-id", "fake-secret")
    with pytest.raises(NotFound):
        remove_source_credentials(tenant=alice_tenant, actor=ACTOR, provider="fitbit")
    with pytest.raises(NotFound):
        try_source_credentials(tenant=alice_tenant, actor=ACTOR, provider="fitbit")


def test_a_source_without_a_gateway_has_no_credentials(alice_tenant):
    before = stored_rows(alice_tenant)

    with pytest.raises(NotFound):
        save_source_credentials(
            tenant=alice_tenant,
            actor=ACTOR,
            provider="zwift",
            client_id="id",
            client_secret="secret",
        )

    assert stored_rows(alice_tenant) == before


def test_a_secret_that_no_key_opens_is_not_replaced_by_the_installation_s(
    alice_tenant,
):
    save(alice_tenant)
    SourceCredentials.objects.for_tenant(alice_tenant).update(client_secret="lost")

    assert used(alice_tenant) is None
    assert list_team_source_gateways(tenant=alice_tenant) == {}


def test_tokens_are_traded_by_the_application_they_were_issued_to(alice_tenant):
    save(alice_tenant)

    assert used(alice_tenant, issued_to="fake-id") == ("fake-id", "fake-secret")
    assert used(alice_tenant, issued_to="team-id") == ("team-id", "team-secret")
    # Of an application that nobody knows any more.
    assert used(alice_tenant, issued_to="gone") == ("team-id", "team-secret")


def test_a_connection_remembers_its_application(alice_tenant):
    user = make_user(tenant=alice_tenant)
    connection = connect_cloud_source(
        user=user, actor=ACTOR, provider="fitbit", grant=Grant("access")
    )
    save(alice_tenant)

    gateway = find_connection_gateway(connection)

    assert SourceGrant.objects.for_tenant(alice_tenant).get().client_id == "fake-id"
    assert gateway.credentials.client_id == "fake-id"


def test_what_else_a_source_asks_for_is_kept_encrypted_and_kept_when_empty(
    alice_tenant, charlie_tenant, fitbit
):
    fitbit.credential_fields = (
        CredentialField("pass_key", "Pass key"),
        CredentialField("note", "Note", is_required=False),
        CredentialField(
            "region", "Region", is_required=False, choices=(("", "All"), ("eu", "EU"))
        ),
    )

    def refused(**more):
        before = stored_rows(alice_tenant)
        with pytest.raises(DomainError) as caught:
            save(alice_tenant, **more)
        assert stored_rows(alice_tenant) == before
        return caught.value.code, caught.value.field

    assert refused() == ("credential_missing", "pass_key")
    assert refused(pass_key="k", region="us") == ("credential_invalid", "region")
    save(alice_tenant, pass_key=" key-1 ", note="n-1", region="eu", unasked="x")
    first = find_team_source_gateway(tenant=alice_tenant, provider="fitbit")
    save(alice_tenant, client_secret="", pass_key="key-2")
    second = find_team_source_gateway(tenant=alice_tenant, provider="fitbit")
    kept = stored(alice_tenant)
    (setup,) = list_source_setups(tenant=alice_tenant)

    assert first.credentials.more == {
        "pass_key": "key-1",
        "note": "n-1",
        "region": "eu",
    }
    assert second.credentials.more == {"pass_key": "key-2", "note": "n-1"}
    assert "key-2" not in kept.more
    assert "key-2" in decrypt_secret(kept.more)
    assert setup.chosen == {"region": ""}
    # Another application has nothing of the first; the installation's has no key.
    with pytest.raises(DomainError):
        save(alice_tenant, client_id="other", client_secret="s")
    assert find_team_source_gateway(tenant=charlie_tenant, provider="fitbit") is None
