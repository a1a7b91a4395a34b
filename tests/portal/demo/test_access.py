from __future__ import annotations

import stat
from types import SimpleNamespace

import pytest

from accounts.models import ApiKey, Member
from accounts.operations.api_keys.api_keys import find_api_key_grant
from portal.demo import notes
from portal.demo.access import ensure_demo_sign_ins_and_api_keys
from portal.demo.notes import DemoNotes
from tests.factories.accounts import make_member, make_team, make_tenant

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture
def teams(db):
    """Two teams as demo loads them: one owner, a sandbox each."""
    first, second = make_team("Demo"), make_team("Demo Two")
    return SimpleNamespace(
        owner=make_member(team=first, email="demo@assay.example"),
        sandboxes=(make_tenant(team=first), make_tenant(team=second)),
    )


def live_keys(tenant):
    return ApiKey.objects.for_tenant(tenant).filter(revoked_at=None).count()


def tenant_of(key):
    grant = find_api_key_grant(key)
    return grant and grant.tenant


def test_the_first_run_makes_a_password_and_a_key_for_each_team(teams):
    granted = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )

    owner = Member.objects.get(pk=teams.owner.pk)
    assert owner.check_password(granted.password)
    assert len(granted.password) >= 12
    assert granted.email == "demo@assay.example"
    assert granted.address == ADDRESS
    assert list(granted.api_keys) == [t.team.slug for t in teams.sandboxes]
    for tenant in teams.sandboxes:
        assert tenant_of(granted.api_keys[tenant.team.slug]) == tenant


def test_an_operator_is_made_once_and_signs_in_with_what_is_printed(teams):
    first = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )
    again = ensure_demo_sign_ins_and_api_keys(teams=teams, kept=first, address=ADDRESS)

    operator = Member.objects.get(email=first.operator_email)
    assert operator.is_staff
    assert operator.email_confirmed_at is not None
    assert not operator.memberships.exists()
    assert operator.check_password(first.operator_password)
    assert again.operator_password == first.operator_password
    assert not Member.objects.get(pk=teams.owner.pk).is_staff


def test_running_again_changes_neither_password_nor_keys(teams):
    first = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )
    password_hash = Member.objects.get(pk=teams.owner.pk).password

    second = ensure_demo_sign_ins_and_api_keys(teams=teams, kept=first, address=ADDRESS)

    assert second == first
    assert Member.objects.get(pk=teams.owner.pk).password == password_hash
    assert [live_keys(tenant) for tenant in teams.sandboxes] == [1, 1]


def test_lost_notes_give_a_new_password_and_revoke_the_lost_keys(teams):
    lost = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )

    granted = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )

    owner = Member.objects.get(pk=teams.owner.pk)
    assert owner.check_password(granted.password)
    assert not owner.check_password(lost.password)
    assert [tenant_of(key) for key in lost.api_keys.values()] == [None, None]
    assert [live_keys(tenant) for tenant in teams.sandboxes] == [1, 1]


def test_a_password_outlives_a_lost_database(teams):
    granted = ensure_demo_sign_ins_and_api_keys(
        teams=teams,
        kept=DemoNotes(password="kept-from-an-earlier-run"),
        address=ADDRESS,
    )

    assert granted.password == "kept-from-an-earlier-run"
    assert Member.objects.get(pk=teams.owner.pk).check_password(granted.password)


def test_a_key_of_the_other_team_is_not_taken_for_this_ones(teams):
    first = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=DemoNotes(), address=ADDRESS
    )
    slugs = list(first.api_keys)
    crossed = DemoNotes(
        password=first.password,
        api_keys={slugs[0]: first.api_keys[slugs[1]]},
    )

    granted = ensure_demo_sign_ins_and_api_keys(
        teams=teams, kept=crossed, address=ADDRESS
    )

    for tenant in teams.sandboxes:
        assert tenant_of(granted.api_keys[tenant.team.slug]) == tenant


def test_notes_are_kept_for_their_owner_alone(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    written = DemoNotes(ADDRESS, "demo@assay.example", "secret", {"demo": "sk_us_x"})

    notes.write_demo_credentials(written)
    notes.write_demo_credentials(written)

    assert notes.read_demo_credentials() == written
    assert stat.S_IMODE(notes.demo_credentials_path().stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["demo.json"]


@pytest.mark.parametrize("spoiled", ["", "[]", "{}", '{"address": 1}', "not json"])
def test_spoiled_notes_read_as_none_at_all(settings, tmp_path, spoiled):
    settings.VAR_DIR = tmp_path
    notes.demo_credentials_path().write_text(spoiled)

    assert notes.read_demo_credentials() == DemoNotes()


def test_the_secret_key_is_made_once(settings, tmp_path):
    settings.VAR_DIR = tmp_path

    first, second = (
        notes.load_or_create_demo_secret_key(),
        notes.load_or_create_demo_secret_key(),
    )

    assert first == second
    assert len(first) >= 50
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
