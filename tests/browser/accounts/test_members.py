from __future__ import annotations

import re

import pytest
from django.core import mail
from playwright.sync_api import expect

from accounts.models import Member
from accounts.operations.members.invitations import invite_member
from accounts.states import Role
from tests.browser.conftest import assert_sound, complaints
from tests.factories.accounts import ACTOR, PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PLACE = "/t/alice-health/sandbox"


@pytest.mark.parametrize("scripts", [True, False], ids=["script", "no script"])
def test_an_owner_invites_and_a_newcomer_joins(visit, alice, scripts):
    with (
        visit.page(member=alice, scripts=scripts) as owner,
        visit.page(scripts=scripts) as newcomer,
    ):
        owner.goto(f"{PLACE}/members/")
        owner.get_by_role("link", name="Invite member").click()
        owner.get_by_label("Work email").fill("dana@assay.example")
        owner.get_by_label("Clinician").check()
        owner.get_by_role("button", name="Send invitation").click()
        expect(
            owner.get_by_text("Invitation sent to dana@assay.example.")
        ).to_be_visible()
        link = owner.locator(".secret code").inner_text()

        newcomer.goto(re.sub(r"^https?://[^/]+", "", link))
        expect(newcomer).to_have_url(re.compile(r"/invitation/$"))
        expect(newcomer.get_by_text("Review and sign reports")).to_be_visible()
        newcomer.get_by_label("Your name").fill("Dana Reyes")
        newcomer.get_by_label("Choose a password").fill(PASSWORD)
        newcomer.get_by_role("button", name="Join team").click()
        # The link went by another way than mail, so the address is not yet theirs.
        expect(newcomer).to_have_url(re.compile(r"/accounts/address/$"))
        expect(newcomer.get_by_text("You joined Alice Health.")).to_be_visible()
        mailed = re.search(r"https?://[^/\s]+(/\S+)", mail.outbox[-1].body)
        newcomer.goto(mailed[1])
        newcomer.get_by_role("button", name="Confirm address").click()
        expect(newcomer).to_have_url(re.compile(r"/t/alice-health/sandbox/$"))

        owner.goto(f"{PLACE}/members/")
        row = owner.get_by_role("row", name=re.compile("Dana Reyes"))
        expect(row).to_contain_text("Clinician")
        row.get_by_role("link", name="Change roles").click()
        owner.get_by_label("Lab staff").check()
        owner.get_by_role("button", name="Save roles").click()
        expect(row).to_contain_text("Lab staff")


def test_a_refused_change_stays_in_its_dialog(visit, alice):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/members/")
        page.get_by_role("link", name="Change roles").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Owner").uncheck()
        dialog.get_by_label("Viewer").check()
        dialog.get_by_role("button", name="Save roles").click()

        expect(dialog).to_contain_text("A team needs at least one owner")
        assert_sound(page)
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Change roles")).to_be_focused()


def test_pages_of_the_team_are_sound(visit, alice, bob):
    Member.objects.filter(pk=alice.pk).update(name="Alice Harlow")
    _, token = invite_member(
        team=bob.memberships.get().team,
        actor=ACTOR,
        email="dana@assay.example",
        roles=[Role.DEVELOPER, Role.VIEWER],
    )
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/members/")
        assert complaints(page) == []
        page.get_by_role("link", name="Invite member").click()
        expect(page.get_by_label("Work email")).to_be_focused()
        assert complaints(page, "dialog[open]") == []
    with visit.page() as page:
        page.goto(f"/invitation/{token}/")
        assert complaints(page) == []


def test_a_theme_of_the_profile_outlives_this_device_s_own(visit, alice):
    with visit.page(member=alice, theme="light") as page:
        page.goto(f"{PLACE}/profile/")
        page.get_by_role("button", name="Switch theme").first.click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.get_by_label("Name").fill("Alice Harlow")
        page.get_by_role("radio", name="Light").check()
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_text("Profile saved.")).to_be_visible()

        expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_switched_off_keys_do_nothing(visit, alice):
    with visit.page(member=alice) as page:
        page.goto(f"{PLACE}/profile/")
        page.get_by_label("Name").fill("Alice Harlow")
        page.get_by_label("Single-key shortcuts").uncheck()
        page.get_by_role("button", name="Save profile").click()
        expect(page.get_by_text("Profile saved.")).to_be_visible()
        page.wait_for_load_state()
        page.keyboard.press("?")
        page.keyboard.press("Control+k")

        expect(page.locator("#palette")).to_be_visible()
        expect(page.locator("#d-keys")).not_to_be_visible()
