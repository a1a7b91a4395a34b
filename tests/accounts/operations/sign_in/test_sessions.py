from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import AuditEntry, MemberSession
from accounts.operations.sign_in.sessions import (
    delete_expired_sessions,
    end_member_session,
    record_session_activity,
)
from accounts.queries import list_open_sessions
from portal.lib.errors import NotFound
from tests.factories.accounts import ACTOR, make_member

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def open_session(member, **seen):
    store = SessionStore()
    store.create()
    record_session_activity(
        member=member,
        session_key=store.session_key,
        **{"address": "192.0.2.7", "user_agent": "Firefox/140.0", **seen},
    )
    return MemberSession.objects.get(session_key=store.session_key)


def seen_of(member):
    return list(list_open_sessions(member=member, at=datetime.now(UTC)))


def test_a_session_that_is_seen_again_stays_one():
    member = make_member()
    with time_machine.travel(NOW, tick=False):
        session = open_session(member)
    with time_machine.travel(NOW + timedelta(hours=1), tick=False):
        record_session_activity(
            member=member,
            session_key=session.session_key,
            address="192.0.2.8",
            user_agent="Firefox/141.0" + "x" * 300,
        )
        (seen,) = seen_of(member)

    assert (seen.pk, seen.created_at, seen.last_seen_at) == (
        session.pk,
        NOW,
        NOW + timedelta(hours=1),
    )
    assert (seen.address, len(seen.user_agent)) == ("192.0.2.8", 300)


def test_what_nobody_has_used_for_two_weeks_is_forgotten_with_the_next_sign_in():
    member = make_member()
    with time_machine.travel(NOW, tick=False):
        open_session(member)
    with time_machine.travel(NOW + timedelta(days=15), tick=False):
        later = open_session(member)

    assert list(MemberSession.objects.all()) == [later]


@pytest.mark.parametrize("field", ["password", "session_round"])
def test_a_new_password_or_round_ends_every_session_in_the_list(field):
    member = make_member()
    open_session(member)
    if field == "password":
        member.set_password("an entirely new sentence")
    else:
        member.session_round += 1
    member.save()

    assert seen_of(member) == []


def test_one_session_is_ended_and_the_teams_are_told(alice, alice_team):
    lost, kept = open_session(alice), open_session(alice)

    end_member_session(member=alice, actor=ACTOR, session_id=lost.pk)

    assert seen_of(alice) == [kept]
    assert not Session.objects.filter(session_key=lost.session_key).exists()
    assert [
        (line.verb, line.subject_id)
        for line in AuditEntry.unscoped.filter(verb="end_session")
    ] == [("end_session", str(alice.pk))] * 2


def test_nobody_ends_another_s_session(alice):
    session = open_session(make_member())
    before = AuditEntry.unscoped.count()

    with pytest.raises(NotFound):
        end_member_session(member=alice, actor=ACTOR, session_id=session.pk)

    assert MemberSession.objects.filter(pk=session.pk).exists()
    assert Session.objects.filter(session_key=session.session_key).exists()
    assert AuditEntry.unscoped.count() == before


def test_what_has_expired_is_forgotten(alice):
    now = timezone.now()
    for key, age in (("old", timedelta(days=15)), ("new", timedelta(0))):
        Session.objects.create(
            session_key=key, session_data="", expire_date=now + timedelta(days=1) - age
        )
        MemberSession.objects.create(
            member=alice, session_key=key, proof="x", last_seen_at=now - age
        )

    delete_expired_sessions()

    assert [each.session_key for each in Session.objects.all()] == ["new"]
    assert [each.session_key for each in MemberSession.objects.all()] == ["new"]
