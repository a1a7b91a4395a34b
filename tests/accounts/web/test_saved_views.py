from __future__ import annotations

import pytest
from django.http import QueryDict
from django.test import Client

from accounts.models import SavedView
from accounts.operations.members.saved_views import ViewSettings, create_saved_view
from accounts.states import Role
from accounts.web.saved_views import normalize_list_query
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox"
USERS = f"{PLACE}/users/"
SAVE = f"{PLACE}/views/save/?page=users:list&query=q%3Dmbr%26status%3Derror"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def bob_web(bob):
    client = Client()
    client.force_login(bob)
    return client


@pytest.fixture
def view(alice_tenant, alice):
    def view(name="Silent", *, member=alice, page="users:list", **settings):
        return create_saved_view(
            tenant=alice_tenant,
            actor=ACTOR,
            member=member,
            page=page,
            query="status=error",
            settings=ViewSettings(name, **settings),
        )

    return view


def row(client, query="view=all", path=USERS):
    return client.get(f"{path}?{query}").context["views"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("status=error&q=a&offset=50", "q=a&status=error"),
        ("q=&source=&view=all&cursor=x", ""),
        ("q=a%26b&q=", "q=a%26b"),
        ("", ""),
    ],
)
def test_equal_views_have_equal_queries(given, kept):
    assert normalize_list_query(QueryDict(given)) == kept


def test_a_member_keeps_the_filters_of_a_list(alice_web, alice, alice_tenant):
    save_url = row(alice_web, "status=error&q=mbr&offset=50").save_url
    assert alice_web.get(save_url).status_code == 200

    reply = alice_web.post(save_url, {"name": "Silent", "is_shared": "on"})

    assert (reply.status_code, reply["Location"]) == (
        302,
        f"{USERS}?q=mbr&status=error",
    )
    stored = SavedView.objects.for_tenant(alice_tenant).get()
    assert (stored.name, stored.member, stored.is_shared) == ("Silent", alice, True)
    shown = row(alice_web, "q=mbr&status=error&offset=50")
    assert [(link.view, link.is_here) for link in shown.links] == [(stored, True)]
    assert shown.save_url == ""


@pytest.mark.parametrize("query", ["view=all", "q=", "offset=50"])
def test_the_whole_list_is_not_offered_to_be_saved(alice_web, alice_tenant, query):
    shown = row(alice_web, query)

    assert shown.is_all_here
    assert shown.save_url == ""


def test_a_view_without_a_name_comes_back_with_its_error(alice_web, alice_tenant):
    reply = alice_web.post(SAVE, {"name": ""}, headers=HTMX)

    assert reply.status_code == 422
    assert reply.context["form"].has_error("name", "required")
    assert not SavedView.objects.for_tenant(alice_tenant).exists()


def test_a_name_twice_comes_back_with_its_error(alice_web, alice_tenant, view):
    view("Silent")

    reply = alice_web.post(SAVE, {"name": "silent"})

    assert reply.status_code == 422
    assert "name" in reply.context["form"].errors
    assert SavedView.objects.for_tenant(alice_tenant).count() == 1


def test_the_bare_address_of_saving_leads_home(alice_web, alice_tenant):
    reply = alice_web.get(f"{PLACE}/views/save/")

    assert (reply.status_code, reply["Location"]) == (302, f"{PLACE}/")


@pytest.mark.parametrize("page", ["", "team:members", "users:resolve", "nowhere"])
def test_only_lists_keep_views(alice_web, alice_tenant, page):
    reply = alice_web.post(
        f"{PLACE}/views/save/?page={page}&query=q%3Da", {"name": "A"}
    )

    assert reply.status_code == 404
    assert not SavedView.objects.for_tenant(alice_tenant).exists()


def test_a_list_that_is_not_theirs_to_read_keeps_no_view(bob_web, alice_tenant):
    reply = bob_web.post(
        f"{PLACE}/views/save/?page=reports:list&query=tab%3Dfailed", {"name": "A"}
    )

    assert reply.status_code == 404
    assert not SavedView.objects.for_tenant(alice_tenant).exists()


def test_others_see_what_is_shared_and_may_not_change_it(bob_web, view):
    view("Mine")
    shared = view("Ours", is_shared=True)

    (link,) = row(bob_web).links

    assert link.view == shared
    assert link.edit_url == ""
    for path in (f"{PLACE}/views/{shared.id}/", f"{PLACE}/views/{shared.id}/delete/"):
        assert bob_web.get(path).status_code == 404
        assert bob_web.post(path, {"name": "Bob's"}).status_code == 404
    shared.refresh_from_db()
    assert shared.name == "Ours"


def test_an_admin_changes_a_shared_view_but_not_whose_default_it_is(
    view, alice_team, alice_tenant
):
    shared = view("Ours", is_shared=True, is_default=True)
    admin = Client()
    admin.force_login(make_member(team=alice_team, roles=(Role.ADMIN,)))

    reply = admin.post(f"{PLACE}/views/{shared.id}/", {"name": "Everyone's"})

    assert reply.status_code == 302
    shared.refresh_from_db()
    assert (shared.name, shared.is_shared, shared.is_default) == (
        "Everyone's",
        False,
        True,
    )


def test_a_private_view_does_not_exist_for_an_admin(view, alice_team):
    private = view("Mine")
    admin = Client()
    admin.force_login(make_member(team=alice_team, roles=(Role.ADMIN,)))

    assert admin.get(f"{PLACE}/views/{private.id}/").status_code == 404


def test_the_bare_list_opens_at_its_members_default(alice_web, bob_web, view):
    view("Silent", is_default=True, is_shared=True)

    reply = alice_web.get(USERS)

    assert (reply.status_code, reply["Location"]) == (302, f"{USERS}?status=error")
    assert alice_web.get(f"{USERS}?view=all").status_code == 200
    assert alice_web.get(USERS, headers=HTMX).status_code == 200
    assert bob_web.get(USERS).status_code == 200


def test_the_default_of_one_list_is_not_that_of_another(alice_web, view):
    view("Silent", is_default=True)

    assert alice_web.get(f"{PLACE}/reports/").status_code == 200


def test_a_view_is_deleted_after_a_question(alice_web, alice_tenant, view):
    path = f"{PLACE}/views/{view().id}/delete/"

    assert alice_web.get(path).status_code == 200
    assert SavedView.objects.for_tenant(alice_tenant).exists()
    reply = alice_web.post(path)

    assert (reply.status_code, reply["Location"]) == (302, f"{USERS}?view=all")
    assert not SavedView.objects.for_tenant(alice_tenant).exists()


@pytest.mark.parametrize(
    "view_id", ["nonsense", "00000000-0000-4000-8000-000000000000"]
)
def test_a_view_that_is_not_there_is_not_found(alice_web, alice_tenant, view_id):
    assert alice_web.get(f"{PLACE}/views/{view_id}/").status_code == 404
    assert audited(alice_tenant) == []
