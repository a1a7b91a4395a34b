"""Every page of the dashboard in every look: no violation, one heading, no overflow.

And one primary button at most, which a form has at its foot.

The pages come from the URL conf and their ids from the stranger sweep's samples, so a
new page is checked by existing and an id without a sample fails.
"""

from __future__ import annotations

import pytest
from django.db.models import Value
from django.db.models.functions import RPad
from django.test import Client

from accounts.models import Membership
from accounts.states import Role
from portal.ops.isolation.endpoints import fill_route_parameters, list_named_urls
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    PAGES,
    samples,
)
from tests.browser.conftest import (
    complaints,
    complaints_of_the_dark,
)
from tests.clients import confirm
from users.models import User

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(300),  # some thirty pages on whatever else the machine does
]

PARTS = 4
FRAMED = 12  # of so many pages one is judged with the frame that they share
# Files that the samples name without having them.
FILES = ("/file/", "/pages/1/")
# A mail as it will arrive, which no page but the one around it links to.
MAILED = "/preview/"
# What is shown to a member outside any team: the pages of their own account, and
# documents. Swagger's own page is not ours.
OUTSIDE = [
    *(
        route
        for route, _, _ in list_named_urls()
        if route.startswith(("accounts/", "api/docs/", "docs/")) and "<" not in route
    ),
    "api/docs/events/daily.data.sleep.created/",
]
OUTSIDE.remove("api/docs/")
# One of those that a session which is not fresh does not see.
BEHIND_STEP_UP = "t/<team_slug>/<environment>/api-keys/create/"
# Shows each part that opens over the page, once: most are the same on every page. One
# that is filled by a request is empty here, and a page of its own besides.
OPEN_NEXT = """seen => {
  const part = [...document.querySelectorAll("dialog:not([data-opens]), .menu")]
    .find(one => !seen.includes(one.id));
  if (!part) return null;
  if (part.matches("dialog")) part.showModal();
  else part.showPopover();
  return part.id;
}"""
# Dialogs and menus have one of their own, and so has a row that is edited in place.
PRIMARY_BUTTONS = """() => {
  const main = document.querySelector(".app main");
  const shown = [...(main?.querySelectorAll(".btn--primary") ?? [])].filter(
    (one) => one.checkVisibility() && !one.closest("dialog, [popover], .bm__edit"));
  const words = (ones) => ones.map((one) => one.textContent.trim()).join(", ");
  const adrift = shown.filter((one) =>
    one.closest('form[method="post"]')?.querySelector(
      'input:not([type="hidden"]), select, textarea') &&
    !one.closest(".card__foot, .dialog__foot, .formfoot, .wizfoot"));
  return [
    ...(shown.length > 1 ? [`several primary buttons: ${words(shown)}`] : []),
    ...(adrift.length ? [`not at the form's foot: ${words(adrift)}`] : []),
  ];
}"""
SHUT = """name => {
  const part = document.getElementById(name);
  if (part.matches("dialog")) part.close();
  else part.hidePopover();
}"""


def pages_that_are_shown(client, paths):
    """Those that answer a GET with a page: no redirect, file or form's target."""
    replies = {path: client.get(path) for path in paths}
    statuses = {path: reply.status_code for path, reply in replies.items()}
    lost = [
        path
        for path in paths
        if path.startswith("/t/") and statuses[path] == 404 and not path.endswith(FILES)
    ]
    assert lost == []
    odd = {path: it for path, it in statuses.items() if it not in {200, 302, 404, 405}}
    assert odd == {}
    return [
        path
        for path, reply in replies.items()
        if reply.status_code == 200
        and reply["Content-Type"].startswith("text/html")
        and not path.endswith(MAILED)
    ]


# In parts, so that two processes share them.
@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_sound(visit, alice, samples, part):  # noqa: F811
    assert sweep(visit, alice, samples, part, complaints) == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_sound_in_every_look(visit, alice, samples, part):  # noqa: F811
    assert sweep(visit, alice, samples, part, complaints) == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_keeps_its_contrast_wide_in_dark(
    visit,
    alice,
    samples,  # noqa: F811
    part,
):
    assert sweep(visit, alice, samples, part, complaints_of_the_dark) == {}


def sweep(visit, alice, samples, part, judge):  # noqa: F811
    """What is wrong with each page of this part, and with each that opens over it.

    `judge` takes a page, what to judge of it, and whether what is around it as well.
    """
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])
    # Some pages are a clinician's alone, some a physician's.
    roles = [Role.OWNER, Role.CLINICIAN, Role.PHYSICIAN]
    Membership.objects.filter(member=alice).update(roles=roles)
    # A customer may make their ids as long as this, without a place to break them.
    User.unscoped.update(client_user_id=RPad("client_user_id", 255, Value("x")))
    client = Client()
    client.force_login(alice)
    # What asks again who it is shows its page too.
    confirm(client)
    paths = [fill_route_parameters(route, samples) for route in (*OUTSIDE, *PAGES)][
        part::PARTS
    ]
    shown = pages_that_are_shown(client, paths)
    stepped_up = {
        "/accounts/passkeys/add/",
        fill_route_parameters(BEHIND_STEP_UP, samples),
    }
    assert stepped_up & {*paths} <= {*shown}
    seen: list[str] = []
    found = {}

    with visit.page(client=client) as page:
        for number, path in enumerate(shown):
            page.goto(path)
            found[path] = judge(page, whole=number % FRAMED == 0)
            headings = page.locator("h1").count()
            found[path] += [f"{headings} main headings"] * (headings != 1)
            if not path.endswith("/components/"):  # it shows each button there is
                found[path] += page.evaluate(PRIMARY_BUTTONS)
            while name := page.evaluate(OPEN_NEXT, seen):
                seen.append(name)
                found[f"{path} #{name}"] = judge(page, f"#{name}")
                page.evaluate(SHUT, name)

    expected = {"d-keys", "m-member"}
    if any(path.endswith("/components/") for path in shown):
        expected |= {"m-example", "d-name"}
    assert expected <= set(seen)
    return {path: faults for path, faults in found.items() if faults}
