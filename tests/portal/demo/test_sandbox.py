from __future__ import annotations

import pytest

from accounts.webhooks.models import Event
from portal.demo.data import DemoUser
from portal.demo.models import DemoData
from portal.demo.sandbox import (
    LOAD_JOB,
    PREFIX,
    REMOVE_JOB,
    allow_demo_removal_again,
    erase_demo_users,
    find_demo_data,
    load_requested_demo_data,
    mark_demo_loading_finished,
    request_demo_data,
    request_demo_data_removal,
)
from portal.lib.errors import DomainError, NotAllowed, NotFound
from reports.models import ParsingJob
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.jobs import queued
from users.models import User
from users.operations.users.users import delete_user
from users.queries import count_live_users, search_users

pytestmark = pytest.mark.django_db

PEOPLE = (
    DemoUser("mbr_1", ("oura", "fitbit"), "Europe/Lisbon"),
    DemoUser("mbr_2"),
)


@pytest.fixture(autouse=True)
def _few_people(monkeypatch):
    monkeypatch.setattr("portal.demo.sandbox.PEOPLE", PEOPLE)


@pytest.fixture
def with_report(monkeypatch):
    """One person alone, with one report."""
    person = DemoUser("mbr_3", reports=("blood-count.pdf",))
    monkeypatch.setattr("portal.demo.sandbox.PEOPLE", (person,))


@pytest.fixture
def scenes(monkeypatch):
    """What the apps' loaders are given, in place of their own."""
    items = []
    monkeypatch.setattr("portal.demo.data.list_demo_loaders", lambda: [items.append])
    return items


@pytest.fixture
def loaded(alice_tenant, scenes):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)
    load_requested_demo_data(tenant_pk=alice_tenant.pk)
    return find_demo_data(tenant=alice_tenant)


def everyone(tenant):
    return {
        user.client_user_id for user in search_users(tenant=tenant, limit=100).users
    }


def test_asking_enqueues_the_loading_and_says_who_asked(alice_tenant):
    demo = request_demo_data(tenant=alice_tenant, actor=ACTOR)

    assert demo.is_busy
    assert [(job.name, job.inputs) for job in queued()] == [
        (LOAD_JOB, {"tenant_pk": alice_tenant.pk})
    ]
    assert audited(alice_tenant) == [
        ("ask_for_demo_data", "demo_data", str(alice_tenant.pk))
    ]


def test_asking_twice_changes_nothing_more(alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    assert len(queued()) == 1
    assert len(audited(alice_tenant)) == 1


def test_production_takes_no_demo_data(alice_production):
    with pytest.raises(NotAllowed) as refusal:
        request_demo_data(tenant=alice_production, actor=ACTOR)

    assert refusal.value.code == "sandbox_only"
    assert find_demo_data(tenant=alice_production) is None
    assert queued() == []
    assert audited(alice_production) == []


def test_a_sandbox_without_room_takes_no_demo_data(alice_tenant, monkeypatch):
    monkeypatch.setattr("portal.demo.sandbox.SANDBOX_USER_LIMIT", len(PEOPLE))
    make_user(tenant=alice_tenant)

    with pytest.raises(DomainError) as refusal:
        request_demo_data(tenant=alice_tenant, actor=ACTOR)

    assert refusal.value.code == "sandbox_user_limit"
    assert queued() == []


def test_loading_makes_labelled_users_with_sources(loaded, alice_tenant, scenes):
    names = {"demo_mbr_1", "demo_mbr_2"}

    assert everyone(alice_tenant) == names
    assert not loaded.is_busy
    assert len(loaded.user_uuids) == len(PEOPLE)
    [scene] = scenes
    assert {person.client_user_id for person in scene.people} == names
    assert [person.sources for person in scene.people] == [("oura", "fitbit"), ()]
    assert scene.tenant == alice_tenant


def test_loading_submits_reports(with_report, loaded, alice_tenant):
    assert ParsingJob.objects.for_tenant(alice_tenant).count() == 1


def test_loading_again_adds_nothing(loaded, alice_tenant, scenes):
    DemoData.objects.for_tenant(alice_tenant).update(loaded_at=None)

    load_requested_demo_data(tenant_pk=alice_tenant.pk)

    assert count_live_users(tenant=alice_tenant) == len(PEOPLE)
    again = find_demo_data(tenant=alice_tenant)
    assert again.user_uuids == loaded.user_uuids
    assert scenes[1].people == scenes[0].people


def test_loading_without_being_asked_does_nothing(alice_tenant, scenes):
    load_requested_demo_data(tenant_pk=alice_tenant.pk)

    assert everyone(alice_tenant) == set()
    assert scenes == []


def test_loading_leaves_a_customer_s_own_user_alone(alice_tenant, scenes):
    own = make_user(
        tenant=alice_tenant, client_user_id=PREFIX + PEOPLE[0].client_user_id
    )
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    load_requested_demo_data(tenant_pk=alice_tenant.pk)

    assert own.uuid not in find_demo_data(tenant=alice_tenant).user_uuids
    assert own.uuid not in {person.user_uuid for person in scenes[0].people}


def test_loading_leaves_reports_out_where_they_are_off(
    with_report, alice_tenant, scenes
):
    alice_tenant.lab_report_parsing_enabled = False
    alice_tenant.save(update_fields=["lab_report_parsing_enabled"])
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    load_requested_demo_data(tenant_pk=alice_tenant.pk)

    assert count_live_users(tenant=alice_tenant) == 1
    assert ParsingJob.objects.for_tenant(alice_tenant).count() == 0


def test_removing_erases_the_demo_users_and_no_other(with_report, loaded, alice_tenant):
    own = make_user(tenant=alice_tenant, client_user_id="mbr_own")

    request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)
    assert find_demo_data(tenant=alice_tenant).is_busy
    erase_demo_users(tenant_pk=alice_tenant.pk)

    assert everyone(alice_tenant) == {"mbr_own"}
    users = User.objects.for_tenant(alice_tenant)
    assert list(users.values_list("uuid", flat=True)) == [own.uuid]
    assert count_live_users(tenant=alice_tenant) == 1
    assert ParsingJob.objects.for_tenant(alice_tenant).count() == 0
    assert Event.objects.for_tenant(alice_tenant).count() == 0
    assert find_demo_data(tenant=alice_tenant) is None


def test_removing_takes_a_demo_user_who_was_deleted_by_hand(loaded, alice_tenant):
    user = User.objects.for_tenant(alice_tenant).get(uuid=loaded.user_uuids[0])
    delete_user(user=user, actor=ACTOR)
    request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)

    erase_demo_users(tenant_pk=alice_tenant.pk)

    assert User.objects.for_tenant(alice_tenant).count() == 0


def test_removed_demo_data_can_be_loaded_again(loaded, alice_tenant):
    request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)
    erase_demo_users(tenant_pk=alice_tenant.pk)

    request_demo_data(tenant=alice_tenant, actor=ACTOR)
    load_requested_demo_data(tenant_pk=alice_tenant.pk)

    assert count_live_users(tenant=alice_tenant) == len(PEOPLE)


def test_asking_to_remove_enqueues_it_and_says_who_asked(loaded, alice_tenant):
    request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)

    assert [job.name for job in queued()][-1] == REMOVE_JOB
    assert audited(alice_tenant)[-1] == (
        "ask_to_remove_demo_data",
        "demo_data",
        str(alice_tenant.pk),
    )


def test_nothing_to_remove_is_refused(alice_tenant):
    with pytest.raises(NotFound) as refusal:
        request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)

    assert refusal.value.code == "no_demo_data"
    assert queued() == []
    assert audited(alice_tenant) == []


def test_what_is_still_loading_is_not_removed(alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    with pytest.raises(DomainError) as refusal:
        request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)

    assert refusal.value.code == "demo_data_busy"
    assert len(queued()) == 1
    assert find_demo_data(tenant=alice_tenant).removal_asked_at is None


def test_removing_without_being_asked_does_nothing(loaded, alice_tenant):
    erase_demo_users(tenant_pk=alice_tenant.pk)

    assert count_live_users(tenant=alice_tenant) == len(PEOPLE)


def test_a_loading_that_was_given_up_can_be_removed(alice_tenant):
    request_demo_data(tenant=alice_tenant, actor=ACTOR)

    mark_demo_loading_finished(tenant_pk=alice_tenant.pk)

    assert not find_demo_data(tenant=alice_tenant).is_busy


def test_a_removal_that_was_given_up_can_be_asked_for_again(loaded, alice_tenant):
    request_demo_data_removal(tenant=alice_tenant, actor=ACTOR)

    allow_demo_removal_again(tenant_pk=alice_tenant.pk)

    assert not find_demo_data(tenant=alice_tenant).is_busy
