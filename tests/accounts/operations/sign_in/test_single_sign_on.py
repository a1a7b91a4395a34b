from __future__ import annotations

import pytest
from django.core import mail
from django.core.cache import cache

from accounts.models import AuditEntry, SignInRules, SingleSignOn
from accounts.operations.sign_in.single_sign_on import (
    MAX_DOMAINS,
    ProviderSettings,
    change_sign_in_rules,
    configure_single_sign_on,
    remove_single_sign_on,
)
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_member
from tests.factories.openid import CLIENT_ID, make_single_sign_on, serve_openid

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _local(settings):
    settings.SINGLE_SIGN_ON_LOCAL_HOSTS = ["127.0.0.1"]
    cache.clear()


def written():
    return (
        sorted(map(str, SingleSignOn.objects.values())),
        sorted(map(str, SignInRules.objects.values())),
        AuditEntry.unscoped.count(),
        len(mail.outbox),
    )


def test_who_may_not_change_the_team_changes_nothing(alice_team):
    make_single_sign_on(team=alice_team)
    developer = make_member(team=alice_team, roles=(Role.DEVELOPER,))
    actor = Actor(ActorKind.MEMBER, str(developer.pk), developer.email)
    before = written()

    for change in (
        lambda: configure_single_sign_on(
            team=alice_team, actor=actor, provider=ProviderSettings("https://x", "y")
        ),
        lambda: remove_single_sign_on(team=alice_team, actor=actor),
        lambda: change_sign_in_rules(
            team=alice_team,
            actor=actor,
            requires_second_factor=True,
            requires_single_sign_on=False,
        ),
    ):
        with pytest.raises(DomainError, match="not_allowed"):
            change()

    assert written() == before


def test_what_is_set_already_is_no_change_and_keeps_its_secret(alice, alice_team):
    with serve_openid() as provider:
        present = make_single_sign_on(team=alice_team, issuer=provider.issuer)
        same = ProviderSettings(provider.issuer, CLIENT_ID, domains=["North.Example"])
        before = written()

        configure_single_sign_on(team=alice_team, actor=ACTOR, provider=same)
        unchanged = written() == before
        configure_single_sign_on(
            team=alice_team,
            actor=ACTOR,
            provider=ProviderSettings(provider.issuer, CLIENT_ID),
        )
        silent = provider.issuer
    cache.clear()
    with pytest.raises(DomainError, match="issuer_unavailable"):
        configure_single_sign_on(
            team=alice_team, actor=ACTOR, provider=ProviderSettings(silent, CLIENT_ID)
        )

    kept, present.domains = SingleSignOn.objects.get(), []
    assert unchanged
    assert (kept.client_secret, kept.domains) == (present.client_secret, [])
    assert kept.round == 0


def test_there_is_an_end_to_domains(alice_team):
    many = [f"d{number}.example" for number in range(MAX_DOMAINS + 1)]

    with pytest.raises(DomainError, match="domains_limit"):
        configure_single_sign_on(
            team=alice_team,
            actor=ACTOR,
            provider=ProviderSettings("https://id.north.example", "x", "y", many),
        )

    assert not SingleSignOn.objects.exists()


def test_what_is_not_there_is_not_removed(alice_team):
    with pytest.raises(DomainError, match="not_found"):
        remove_single_sign_on(team=alice_team, actor=ACTOR)
