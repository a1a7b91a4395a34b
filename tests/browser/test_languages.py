"""What people see in a language of no country: all translated, nothing too wide."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from exchange.operations.sharing.links import ShareRequest, create_shared_link
from exchange.queries.shareable import list_shareable_reports
from labs.models import Lab
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.browser.conftest import OVERFLOW, PHONE, WIDE, complaints
from tests.browser.test_sweep import PARTS, sweep
from tests.factories.accounts import ACTOR
from tests.factories.clinical import make_chart
from tests.pseudo_locale import CODE, write_pseudo_locale
from users.operations.connect.link_sessions import (
    LinkRequest,
    create_connect_link,
    sign_connect_link_token,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Every text that is drawn or read aloud, with where the brackets of its part open and
# close: a text between them is translated. Names, values and codes are marked as such.
READ_TEXTS = """() => {
  const found = [];
  const unread =
    "script, style, noscript, template, time, code, .mono, [lang]:not(html)";
  let depth = 0;
  const look = (text) => {
    const outside = text.replace(/⟦|⟧|[^⟦⟧]+/g, (part) => {
      if (part === "⟦") depth += 1;
      else if (part === "⟧") depth -= 1;
      else if (!depth) return part;
      return " ";
    });
    if (/[A-Za-z]{2,}/.test(outside)) found.push(outside.trim());
  };
  look(document.title);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement: place, data } = walker.currentNode;
    if (!place.closest(unread)) look(data);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"])
    for (const place of document.querySelectorAll(`[${name}]`))
      if (!place.closest(unread)) look(place.getAttribute(name));
  return found;
}"""
# Names, what is written alike in all languages, and what reports say themselves.
NAMES = re.compile(
    r"Assay|Alice Health|North Health|UTC|Glucose|Lipids|Rosa Example"
    r"|Laboratory report|Example Laboratory|Lab results|mg/dL|[.]pdf"
    # Days and times that the browser writes, which has no such language.
    r"|(?:March|April) |\b[AP]M\b"
    r"|alice@assay[.]example|\bAH\b"
    r"|Health Auto Export|HCGateway|Apple Health|Health Connect|Samsung Health"
)


@pytest.fixture
def pseudo_locale(settings, tmp_path):
    """The language, offered beside English and chosen by nobody yet."""
    write_pseudo_locale(tmp_path)
    settings.LOCALE_PATHS = [tmp_path, *settings.LOCALE_PATHS]
    settings.LANGUAGES = [("en", "English"), (CODE, "Pseudo")]
    settings.MEMBER_LANGUAGES = ["en", CODE]


def list_untranslated(page, *known):
    """List what is read on a page and is neither translated nor a name."""
    names = [*known]
    names += page.locator("[data-name], .connect__source h3").all_inner_texts()
    left = []
    for text in page.evaluate(READ_TEXTS):
        rest = NAMES.sub("", text)
        for name in sorted(names, key=len, reverse=True):
            rest = rest.replace(name, "")
        if re.search(r"[A-Za-z]{2,}", rest):
            left.append(rest)
    return left


def assert_translated(page):
    expect(page.locator("html")).to_have_attribute("lang", CODE)
    assert (page.url, list_untranslated(page)) == (page.url, [])
    assert page.evaluate(OVERFLOW) <= 0


def test_a_patient_meets_no_untranslated_and_no_cut_text(
    visit, pseudo_locale, settings, alice_tenant
):
    settings.PUBLIC_URL = visit.address
    alice_tenant.user_sharing_enabled = True
    alice_tenant.save(update_fields=["user_sharing_enabled"])
    visit.expected.append("status of 404")
    chart = make_chart(tenant=alice_tenant)
    user = chart.user
    user.tenant = alice_tenant
    portal = create_connect_link(
        user=user, actor=ACTOR, request=LinkRequest(opens_portal=True)
    )
    [report] = list_shareable_reports(tenant=alice_tenant, user_uuid=user.uuid)
    made = create_shared_link(user=user, actor=ACTOR, request=ShareRequest([report.id]))
    here = f"/connect/{portal.uuid}/"

    with visit.page(size=PHONE) as page:
        page.set_extra_http_headers({"Accept-Language": CODE})
        page.goto(f"/connect/?token={sign_connect_link_token(portal)}")
        assert_translated(page)
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        for path in (
            *("?q=nothing-like-this", "?problem=access_denied&source=oura"),
            *("?connected=oura", "phone/", "phone/?app=open_wearables"),
            *("phone/?app=health_auto_export", "phone/?app=hcgateway", "close/"),
            *("share/", "apple_health_kit/file/"),
        ):
            page.goto(f"{here}{path}")
            assert_translated(page)
        page.goto(f"{here}phone/?app=open_wearables")
        page.locator("main form button").click()
        expect(page.locator(".connect__code")).to_be_visible()
        assert_translated(page)
        page.goto(f"{here}share/")
        page.locator("main form button").first.click()
        assert_translated(page)
        page.goto("/connect/?token=unknown")
        assert_translated(page)
        page.goto(made.url)
        expect(page.locator("[data-shared-form]")).to_be_visible()
        page.get_by_role("textbox").nth(0).fill("A")
        page.get_by_role("textbox").nth(1).fill(made.passcode)
        page.locator("[data-shared-form] button").click()
        expect(page.locator("[data-shared-results]")).to_be_visible()
        assert_translated(page)
        page.goto("/shl/nothing/here/")
        assert_translated(page)


def judge_width(page, part="", *, whole=False):
    """Tell where a page is wider than a phone or a screen."""
    found = []
    for size in (PHONE, WIDE):
        page.set_viewport_size(size)
        if page.evaluate(OVERFLOW) > 0:
            found.append(f"wider than {size['width']} px")
    return found


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_page_of_members_is_too_wide_with_longer_words(
    visit,
    alice,
    samples,  # noqa: F811
    pseudo_locale,
    part,
):
    alice.language = CODE
    alice.save(update_fields=["language"])

    assert sweep(visit, alice, samples, part, judge_width) == {}


def test_a_member_meets_no_untranslated_and_no_cut_text(
    visit, pseudo_locale, alice, alice_tenant
):
    alice.language = CODE
    alice.save(update_fields=["language"])
    labs = list(Lab.objects.values_list("name", flat=True))
    left, wide = {}, {}

    with visit.page(member=alice, size=PHONE) as page:
        for path in ("", "orders/", "visits/", "members/", "webhooks/"):
            page.goto(f"/t/alice-health/sandbox/{path}")
            expect(page.locator("html")).to_have_attribute("lang", CODE)
            left[path] = list_untranslated(page, *labs)
            wide[path] = page.evaluate(OVERFLOW)

    assert {path: texts for path, texts in left.items() if texts} == {}
    assert max(wide.values()) <= 0
