from __future__ import annotations

import pytest

from tests.browser.conftest import complaints
from tests.clients import confirm
from tests.factories.accounts import ACTOR
from tests.users.conftest import withings  # noqa: F401 - a fixture
from users.models import SourceCredentials
from users.operations.sources.credentials import save_source_credentials

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOME = "/t/alice-health/sandbox/settings/sources/"


def test_credentials_are_entered_and_a_rejected_secret_is_said_at_its_field(
    visit,
    alice_web,
    alice_tenant,
    withings,  # noqa: F811
):
    confirm(alice_web)
    save_source_credentials(
        tenant=alice_tenant,
        actor=ACTOR,
        provider="withings",
        client_id="twin-id",
        client_secret="twin-secret",
    )
    SourceCredentials.objects.for_tenant(alice_tenant).update(state="rejected")

    with visit.page(client=alice_web) as page:
        page.goto(HOME)
        listed = complaints(page)
        page.get_by_role("link", name="Edit Withings").click()
        page.get_by_label("Client secret").fill("mistyped")
        page.get_by_role("button", name="Try and save").click()
        page.get_by_text("Withings rejected the client ID or secret").wait_for()
        refused = complaints(page)
        page.get_by_label("Client secret").fill("twin-secret")
        page.get_by_role("button", name="Try and save").click()
        page.get_by_text("Credentials tried and saved.").wait_for()

    assert (listed, refused) == ([], [])
    assert SourceCredentials.objects.for_tenant(alice_tenant).get().state == "working"
