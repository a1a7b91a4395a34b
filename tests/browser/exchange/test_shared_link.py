"""A reader opens a shared link in a browser that knows nothing of it."""

from __future__ import annotations

import base64
import json

import pytest
from playwright.sync_api import expect

from exchange.models import SharedLink
from exchange.operations.sharing.links import ShareRequest, create_shared_link
from exchange.queries.shareable import list_shareable_reports
from tests.browser.conftest import PHONE, complaints
from tests.factories.accounts import ACTOR
from tests.factories.clinical import make_chart

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_reader_decrypts_results_in_a_fresh_browser(
    visit, live_server, settings, alice_tenant, tmp_path
):
    settings.PUBLIC_URL = live_server.url
    visit.expected.append("status of 401")
    user = make_chart(tenant=alice_tenant).user
    [report] = list_shareable_reports(tenant=alice_tenant, user_uuid=user.uuid)
    made = create_shared_link(
        user=user, actor=ACTOR, request=ShareRequest([report.id], label="For a visit")
    )
    foreign = base64.urlsafe_b64encode(
        json.dumps({"url": "https://elsewhere.example/m", "key": "A" * 43}).encode()
    ).decode()

    with visit.page(size=PHONE) as page:
        sent = []
        page.on("request", lambda request: sent.append(request.url))
        page.goto(made.url)
        expect(page.get_by_role("button", name="Open results")).to_be_visible()
        assert complaints(page) == []
        page.set_viewport_size(PHONE)
        page.get_by_label("Your name or organization").fill("Dr. Reader")
        page.get_by_label("Passcode").fill("wrong")
        page.get_by_role("button", name="Open results").click()
        expect(page.get_by_text("Tries left: 4")).to_be_visible()
        page.get_by_label("Passcode").fill(made.passcode)
        page.get_by_role("button", name="Open results").click()
        expect(page.get_by_role("heading", level=2)).to_have_text("Rosa Example")
        expect(page.get_by_text("April 2, 1988")).to_be_visible()
        expect(page.get_by_role("heading", level=3)).to_have_text(report.title)
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.locator("tbody tr")).to_contain_text("Glucose")
        assert complaints(page) == []
        with page.expect_download() as download:
            page.get_by_role(
                "link", name=f"{report.title} {report.collected_on}.pdf"
            ).click()
        download.value.save_as(tmp_path / "report.pdf")
        with page.expect_download() as download:
            page.get_by_role("link", name="Results as FHIR").click()
        download.value.save_as(tmp_path / "results.json")

        page.goto("/shl/#shlink:/" + foreign.rstrip("="))
        expect(page.get_by_text("This link leads to another server.")).to_be_visible()
        page.goto("/shl/#shlink:/e30")
        expect(page.get_by_text("This link is not complete.")).to_be_visible()

    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    bundle = json.loads((tmp_path / "results.json").read_text())
    assert bundle["resourceType"] == "Bundle"
    assert {url.split("/", 3)[2] for url in sent if url.startswith("http")} == {
        live_server.url.split("/", 3)[2]
    }
    link = SharedLink.unscoped.get()
    assert (link.openings, link.wrong_passcodes) == (1, 1)
