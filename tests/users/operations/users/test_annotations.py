from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import uuid4

import pytest

from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotFound
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.annotations import TRIP, make_annotation
from tests.factories.users import make_user
from tests.outbox import emitted
from users.models import Annotation
from users.operations.retention import (
    count_expired_annotations,
    delete_expired_annotations,
)
from users.operations.users import annotations as operations
from users.operations.users.annotations import change_annotation, delete_annotation
from users.states import AnnotationKind

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def stored(tenant):
    rows = Annotation.objects.for_tenant(tenant).order_by("pk")
    return [(row.kind, row.first_day, row.last_day, row.text) for row in rows]


def test_an_annotation_is_added_changed_and_deleted_and_the_audit_says_so(
    user, alice, alice_tenant
):
    before = len(audited(alice_tenant))
    member = Actor(ActorKind.MEMBER, str(alice.pk), alice.email)

    annotation = make_annotation(user, replace(TRIP, text=" Lisbon "), member)
    changed = change_annotation(
        user=user,
        actor=ACTOR,
        annotation_id=annotation.uuid,
        request=replace(TRIP, kind=AnnotationKind.NOTE, last_day=date(2026, 2, 28)),
    )
    same = change_annotation(
        user=user,
        actor=ACTOR,
        annotation_id=annotation.uuid,
        request=replace(TRIP, kind=AnnotationKind.NOTE, last_day=date(2026, 2, 28)),
    )

    assert annotation.text == "Lisbon"
    assert changed == same
    assert same.member == alice
    assert stored(alice_tenant) == [
        ("note", date(2026, 2, 24), date(2026, 2, 28), "Lisbon to New York")
    ]
    delete_annotation(user=user, actor=ACTOR, annotation_id=annotation.uuid)
    assert stored(alice_tenant) == []
    key = str(annotation.uuid)
    assert audited(alice_tenant)[before:] == [
        ("add_annotation", "annotation", key),
        ("change_annotation", "annotation", key),
        ("delete_annotation", "annotation", key),
    ]
    # What was written is health data: names of fields alone.
    assert changes_of(alice_tenant, "change_annotation") == {
        "fields": ["kind", "last_day", "text"]
    }
    assert emitted(alice_tenant) == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"last_day": date(2026, 2, 23)}, "ends_before_start"),
        ({"first_day": date(1969, 12, 31)}, "day_out_of_range"),
        ({"last_day": date(2027, 3, 3)}, "day_out_of_range"),
        ({"text": "  "}, "text_missing"),
    ],
)
def test_what_is_no_annotation_is_refused(user, alice_tenant, given, code):
    annotation = make_annotation(user)
    before = (stored(alice_tenant), audited(alice_tenant))
    wrong = replace(TRIP, **given)

    with pytest.raises(DomainError) as added:
        make_annotation(user, wrong)
    with pytest.raises(DomainError) as changed:
        change_annotation(
            user=user, actor=ACTOR, annotation_id=annotation.uuid, request=wrong
        )

    assert (added.value.code, changed.value.code) == (code, code)
    assert (stored(alice_tenant), audited(alice_tenant)) == before


def test_a_user_has_so_many_and_no_more(user, alice_tenant, monkeypatch):
    monkeypatch.setattr(operations, "ANNOTATIONS_MAX", 1)
    make_annotation(user)

    with pytest.raises(DomainError) as refusal:
        make_annotation(user)

    assert refusal.value.code == "too_many_annotations"
    assert len(stored(alice_tenant)) == 1


def test_another_users_annotation_is_not_found(user, alice_tenant, charlie_tenant):
    others = [
        make_annotation(make_user(tenant=alice_tenant)),
        make_annotation(make_user(tenant=charlie_tenant)),
    ]

    for key in (*(each.uuid for each in others), uuid4()):
        with pytest.raises(NotFound):
            change_annotation(user=user, actor=ACTOR, annotation_id=key, request=TRIP)
        with pytest.raises(NotFound):
            delete_annotation(user=user, actor=ACTOR, annotation_id=key)

    assert len(stored(alice_tenant)) == len(stored(charlie_tenant)) == 1


def test_annotations_go_by_their_last_day(user, alice_tenant, charlie_tenant):
    make_annotation(user)
    make_annotation(user, replace(TRIP, last_day=date(2026, 2, 28)))
    make_annotation(make_user(tenant=charlie_tenant))
    before = datetime(2026, 2, 28, 12, tzinfo=UTC)

    aged = count_expired_annotations(alice_tenant, before)
    removed = list(delete_expired_annotations(alice_tenant, before))

    assert (aged.number, removed) == (1, [1])
    assert [row[2] for row in stored(alice_tenant)] == [date(2026, 2, 28)]
    assert len(stored(charlie_tenant)) == 1
