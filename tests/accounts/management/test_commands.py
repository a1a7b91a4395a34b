from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import ApiKey, ManagementKey, Member, SignInRules, Team
from accounts.operations.api_keys.api_keys import find_api_key_grant
from accounts.operations.api_keys.management_keys import find_management_key_grant
from tests.factories.accounts import PASSWORD, make_member, make_team
from tests.factories.openid import make_single_sign_on

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def link_in(printed: str) -> str:
    return printed.split("Set a password: http://127.0.0.1:8000")[1].strip()


def test_create_team_prints_a_link_with_which_the_owner_sets_a_password():
    printed = run("create_team", "North Clinic", "--owner", "dana@assay.example")
    browser = Client()

    form = browser.get(link_in(printed), follow=True)
    browser.post(
        form.redirect_chain[-1][0], {"password1": PASSWORD, "password2": PASSWORD}
    )

    member = Member.objects.get()
    assert Team.objects.get().slug == "north-clinic"
    assert member.check_password(PASSWORD)
    assert member.memberships.get().roles == ["owner"]


def test_an_owner_with_a_password_gets_no_link():
    make_member(email="dana@assay.example")

    printed = run("create_team", "North Clinic", "--owner", "dana@assay.example")

    assert "http" not in printed


@pytest.mark.parametrize("owner", ["dana", "dana@", "@assay.example", ""])
def test_create_team_refuses_an_owner_that_is_no_address(owner):
    with pytest.raises(CommandError):
        run("create_team", "North Clinic", f"--owner={owner}")

    assert not Team.objects.exists()
    assert not Member.objects.exists()


def test_create_api_key_prints_the_key_alone():
    team = make_team("North Clinic")

    printed = run("create_api_key", "--team", team.slug, "--label", "ci")

    grant = find_api_key_grant(printed.strip())
    assert printed == f"{printed.strip()}\n"
    assert grant is not None
    assert (grant.tenant.team, grant.tenant.environment) == (team, "sandbox")


def test_create_api_key_takes_its_rules():
    make_team("North Clinic")
    rules = ("--scope=users:read", "--network=192.0.2.7", "--calls-per-minute=5")

    text = run(
        "create_api_key", "--team=north-clinic", "--label=ci", *rules, "--days=7"
    )

    key = ApiKey.unscoped.get()
    grant = find_api_key_grant(text.strip())
    assert grant.scopes == {"users:read"}
    assert (key.networks, grant.calls_per_minute) == (["192.0.2.7/32"], 5)
    assert round((key.expires_at - key.created_at) / timedelta(days=1)) == 7


@pytest.mark.parametrize(("team", "label"), [("nobody", "ci"), ("north-clinic", " ")])
def test_create_api_key_refuses_and_makes_no_key(team, label):
    make_team("North Clinic")

    with pytest.raises(CommandError):
        run("create_api_key", "--team", team, "--label", label)

    assert not ApiKey.unscoped.exists()


def test_create_management_key_prints_the_organisation_and_the_key():
    team = make_team("North Clinic")

    printed = run("create_management_key", "--team", team.slug, "--label", "terraform")

    organisation_id, text = printed.split()
    grant = find_management_key_grant(text)
    assert printed == f"{team.organisation_id}\n{text}\n"
    assert organisation_id == str(grant.organisation_id)
    assert grant.team_ids is None


def test_create_management_key_can_be_for_one_team():
    team = make_team("North Clinic")
    arguments = ("--team", team.slug, "--label", "ci", "--role", "team_admin")

    printed = run("create_management_key", *arguments)

    assert find_management_key_grant(printed.split()[1]).team_ids == {team.pk}


@pytest.mark.parametrize(("team", "label"), [("nobody", "ci"), ("north-clinic", " ")])
def test_create_management_key_refuses_and_makes_no_key(team, label):
    make_team("North Clinic")

    with pytest.raises(CommandError):
        run("create_management_key", "--team", team, "--label", label)

    assert not ManagementKey.objects.exists()


def test_release_sign_in_lets_a_team_in_again():
    team = make_team("North Clinic")
    make_single_sign_on(team=team, is_required=True)

    run("release_sign_in", "--team", "north-clinic")

    assert SignInRules.objects.get().requires_single_sign_on is False
    with pytest.raises(CommandError):
        run("release_sign_in", "--team", "nowhere")
