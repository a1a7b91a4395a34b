from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.gateways.base import Claims
from accounts.models import (
    AuditEntry,
    Invitation,
    Member,
    Membership,
    SingleSignOnIdentity,
)
from accounts.operations.members.invitations import invite_member
from accounts.operations.sign_in.single_sign_on_entry import (
    find_or_create_membership_by_claims,
)
from accounts.states import Role
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, make_member
from tests.factories.openid import make_single_sign_on

pytestmark = pytest.mark.django_db

OURS = "dana@north.example"
FOREIGN = "dana@elsewhere.example"


def claims(email=OURS, verified=True, subject="p-1"):
    return Claims(subject, email, verified, "Dana Reyes", None)


def enter(single_sign_on, told=None, **more):
    return find_or_create_membership_by_claims(
        single_sign_on=single_sign_on, claims=told or claims(), address=None, **more
    )


def written():
    return (
        Member.objects.count(),
        Membership.objects.count(),
        SingleSignOnIdentity.objects.count(),
        Invitation.objects.filter(accepted_at=None).count(),
        AuditEntry.unscoped.count(),
    )


@pytest.mark.parametrize(
    ("told", "roles", "code"),
    [
        (claims(email=""), (Role.VIEWER,), "email_missing"),
        (claims(verified=False), (Role.VIEWER,), "email_unverified"),
        (claims(FOREIGN, verified=None), (Role.VIEWER,), "domain_unknown"),
        (claims(FOREIGN), (Role.VIEWER,), "not_invited"),
        (claims("dana@sub.north.example"), (Role.VIEWER,), "not_invited"),
        (claims(), (), "not_invited"),
    ],
    ids=["no address", "unverified", "doubtful", "foreign", "below", "no roles"],
)
def test_who_may_not_join_does_not(alice_team, told, roles, code):
    door = make_single_sign_on(team=alice_team, roles=roles)
    before = written()

    with pytest.raises(DomainError) as refused:
        enter(door, told)

    assert refused.value.code == code
    assert written() == before


def test_a_provider_that_says_nothing_is_believed_about_the_team_s_own_domain(
    alice_team,
):
    door = make_single_sign_on(team=alice_team, roles=(Role.VIEWER,))

    assert enter(door, claims(verified=None)).member.email == OURS


def test_a_dead_invitation_lets_nobody_in(alice, alice_team):
    door = make_single_sign_on(team=alice_team, domains=())
    inviter = make_member(team=alice_team, roles=(Role.ADMIN,))
    invitation, _ = invite_member(
        team=alice_team, actor=ACTOR, email=OURS, roles=[Role.VIEWER]
    )
    now = timezone.now()
    deaths = (
        {"expires_at": now},
        {"revoked_at": now},
        {"accepted_at": now},
        {"invited_by": inviter},
    )
    Member.objects.filter(pk=inviter.pk).update(is_active=False)

    for death in deaths:
        alive = {"expires_at": now + timedelta(days=1), "revoked_at": None}
        Invitation.objects.filter(pk=invitation.pk).update(
            **{**alive, "accepted_at": None, "invited_by": None, **death}
        )
        with pytest.raises(DomainError, match="not_invited"):
            enter(door)

    assert not Member.objects.filter(email=OURS).exists()


def test_who_is_switched_off_stays_out(alice_team):
    door = make_single_sign_on(team=alice_team, roles=(Role.VIEWER,))
    member = enter(door).member
    member.is_active = False
    member.save(update_fields=["is_active"])

    with pytest.raises(DomainError, match="account_inactive"):
        enter(door)


def test_who_was_taken_out_is_known_no_more(alice_team):
    door = make_single_sign_on(team=alice_team, roles=(Role.VIEWER,))
    enter(door).delete()
    door.roles = []

    with pytest.raises(DomainError, match="not_invited"):
        enter(door)


def test_a_confined_session_makes_nobody_known(alice, alice_team):
    door = make_single_sign_on(team=alice_team, roles=(Role.VIEWER,))
    before = written()

    with pytest.raises(DomainError, match="other_member"):
        enter(door, signed_in=alice, is_own_session=False)

    assert written() == before
