from __future__ import annotations

import pytest

from accounts.models import SavedView
from accounts.operations.members import saved_views
from accounts.operations.members.saved_views import (
    ViewSettings,
    change_saved_view,
    create_saved_view,
    delete_saved_view,
)
from portal.lib.errors import DomainError
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR

pytestmark = pytest.mark.django_db

SILENT = ViewSettings("Silent ones")


@pytest.fixture
def save(alice_tenant, alice):
    def save(settings=SILENT, *, member=alice, query="status=error", page="users:list"):
        return create_saved_view(
            tenant=alice_tenant,
            actor=ACTOR,
            member=member,
            page=page,
            query=query,
            settings=settings,
        )

    return save


def names(tenant, **wanted):
    views = SavedView.objects.for_tenant(tenant).filter(**wanted)
    return sorted(views.values_list("name", flat=True))


def test_a_view_keeps_a_query_under_a_name(save, alice, alice_tenant):
    view = save(ViewSettings("  Silent \n ones ", is_shared=True))

    stored = SavedView.objects.for_tenant(alice_tenant).get()
    assert stored == view
    assert (stored.name, stored.query, stored.page) == (
        "Silent ones",
        "status=error",
        "users:list",
    )
    assert (stored.member, stored.is_shared, stored.is_default) == (alice, True, False)
    assert audited(alice_tenant) == [("save_view", "saved_view", str(view.id))]
    assert changes_of(alice_tenant, "save_view") == {
        "name": [None, "Silent ones"],
        "is_shared": [None, True],
    }


@pytest.mark.parametrize(
    ("name", "query", "code"),
    [
        ("Silent", "", "query_missing"),
        ("Silent", "q=" + "x" * 999, "query_too_long"),
        ("  ", "q=x", "name_missing"),
        ("x" * 61, "q=x", "name_too_long"),
    ],
)
def test_a_view_that_says_nothing_or_too_much_is_refused(
    save, alice_tenant, name, query, code
):
    with pytest.raises(DomainError) as refusal:
        save(ViewSettings(name), query=query)

    assert (refusal.value.code, refusal.value.field) == (code, "name")
    assert names(alice_tenant) == []
    assert audited(alice_tenant) == []


def test_a_name_is_taken_once_by_a_member_on_a_list(save, alice_tenant, bob):
    save()

    with pytest.raises(DomainError) as refusal:
        save(ViewSettings("SILENT ONES"))
    save(member=bob)
    save(page="reports:list")

    assert refusal.value.code == "name_taken"
    assert names(alice_tenant) == ["Silent ones"] * 3
    assert len(audited(alice_tenant)) == 3


def test_a_list_keeps_so_many_views_of_a_member(save, alice_tenant, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 2)
    save(ViewSettings("One"))
    save(ViewSettings("Two"))

    with pytest.raises(DomainError) as refusal:
        save(ViewSettings("Three"))

    assert refusal.value.code == "too_many_views"
    assert names(alice_tenant) == ["One", "Two"]


def test_a_new_default_takes_the_place_of_the_former(save, alice_tenant, bob):
    save(ViewSettings("First", is_default=True))
    save(ViewSettings("Bob's", is_default=True), member=bob)
    other_list = ViewSettings("Reports", is_default=True)
    save(other_list, page="reports:list")

    save(ViewSettings("Second", is_default=True))

    assert names(alice_tenant, is_default=True) == ["Bob's", "Reports", "Second"]


def test_a_view_is_renamed_shared_and_made_the_default(save, alice_tenant):
    view = save()
    save(ViewSettings("Former", is_default=True))

    change_saved_view(
        view=view, actor=ACTOR, settings=ViewSettings("Silent", True, True)
    )

    view.refresh_from_db()
    assert (view.name, view.is_shared, view.is_default) == ("Silent", True, True)
    assert names(alice_tenant, is_default=True) == ["Silent"]
    assert changes_of(alice_tenant, "change_view") == {
        "name": ["Silent ones", "Silent"],
        "is_shared": [False, True],
        "is_default": [False, True],
    }


def test_a_change_that_changes_nothing_is_not_audited(save, alice_tenant):
    view = save()

    change_saved_view(view=view, actor=ACTOR, settings=SILENT)

    assert [verb for verb, _, _ in audited(alice_tenant)] == ["save_view"]


def test_a_view_does_not_take_the_name_of_another(save, alice_tenant):
    save(ViewSettings("One"))
    two = save(ViewSettings("Two"))

    with pytest.raises(DomainError) as refusal:
        change_saved_view(
            view=two, actor=ACTOR, settings=ViewSettings("one", is_shared=True)
        )

    assert refusal.value.code == "name_taken"
    assert names(alice_tenant, is_shared=False) == ["One", "Two"]
    assert [verb for verb, _, _ in audited(alice_tenant)] == ["save_view"] * 2


def test_a_deleted_view_is_gone(save, alice_tenant):
    view = save()
    view_id = str(view.id)

    delete_saved_view(view=view, actor=ACTOR)

    assert names(alice_tenant) == []
    assert audited(alice_tenant)[-1] == ("delete_view", "saved_view", view_id)
