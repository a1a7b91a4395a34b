"""Requests as an attacker sends them: forged, stuffed, broken out of, blown up."""

from __future__ import annotations

import gzip
import json

import pytest
from django.conf import settings
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import Form, ModelForm
from django.http import HttpResponse
from django.test import Client
from rest_framework.serializers import ModelSerializer

from accounts.models import Member, Membership, Team
from accounts.states import Role
from labs.admin import CatalogueUpdateForm
from portal.lib.api.fields import Inputs
from portal.ops.isolation.endpoints import fill_route_parameters, list_named_urls
from reports.models import ReportFile
from tests.architecture.source import PACKAGES
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    API,
    MANAGEMENT,
    PAGES,
    everything,
    samples,
)
from tests.clients import ManagementClient
from tests.factories.accounts import make_management_key
from tests.factories.users import make_user
from tests.reports.uploads import stored_files, upload
from users.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("as_web_role")]
FORGED = 418  # what nothing else answers
PLACE = "/t/alice-health/sandbox"
# What no input may name, and who does: it names one of the caller's own, checked there.
OURS = frozenset(
    {
        *("tenant", "tenant_id", "environment", "organisation", "organisation_id"),
        *("is_staff", "is_superuser", "is_active", "is_operator", "password_hash"),
        *("sha256", "stored_as", "created_at", "created_on", "revoked_at", "pk"),
    }
)
# More than an input reads, as whoever guesses our columns would send it.
STUFFING = {
    "id": "00000000-0000-4000-8000-000000000000",
    "tenant": 1,
    "tenant_id": 1,
    "team": 1,
    "environment": "production",
    "is_staff": True,
    "is_superuser": True,
    "is_active": False,
    "deleted_at": "2020-01-01T00:00:00Z",
    "created_on": "1999-01-01T00:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "organisation": 1,
}


def subclasses(kind):
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def refuse(_request, reason=""):
    """In place of the page that says so, which would be drawn for every URL."""
    return HttpResponse(status=FORGED)


def test_no_page_takes_what_another_site_posts(
    samples,  # noqa: F811
    alice,
    settings,
):
    settings.CSRF_FAILURE_VIEW = f"{__name__}.refuse"
    Membership.objects.filter(member=alice).update(roles=[Role.OWNER, Role.CLINICIAN])
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    plain = [
        f"/{route}"
        for route, _, _ in list_named_urls()
        if not set("<^(") & set(route) and not route.startswith(("v2/", "v3/", "api/"))
    ]
    before = everything()

    taken = {
        path: status
        for path in [
            *(fill_route_parameters(route, samples) for route in PAGES),
            *plain,
        ]
        if (status := browser.post(path, {"a": "b"}).status_code) != FORGED
    }
    # The API knows keys alone: a browser's session is nobody there.
    keyless = {
        browser.post(fill_route_parameters(route, samples), {}).status_code
        for route in (*API, *MANAGEMENT)
    }

    # Their senders sign, or hold the token of a mail or a phone, or a code: no session
    # counts, and without either the page is nobody's.
    assert taken == {
        "/connect/emails/": 404,
        "/phone": 405,
        "/phone/health-auto-export": 401,
        "/phone/pair": 400,
        "/phone/token": 400,
        "/phone/uploads": 401,
        "/texts/status/": 404,
    }
    assert keyless <= {401, 405}
    assert everything() == before


def test_no_input_is_a_mirror_of_a_table_or_names_what_is_ours():
    list(list_named_urls())  # imports every view, and with it every input
    inputs = [*subclasses(Inputs), *subclasses(Form)]
    ours = [each for each in inputs if each.__module__.split(".")[0] in PACKAGES]

    named = {
        f"{each.__module__}.{each.__name__}": sorted(found)
        for each in ours
        if (
            found := OURS
            & set(getattr(each, "_declared_fields", getattr(each, "base_fields", {})))
        )
    }
    mirrors = [
        each
        for each in (*subclasses(ModelSerializer), *subclasses(ModelForm))
        if each.__module__.split(".")[0] in PACKAGES
    ]

    assert len(ours) > 100
    assert named == {}
    # The admin takes no other kind; it names its one field, and stores nothing itself.
    assert mirrors == [CatalogueUpdateForm]


def test_what_a_request_says_beside_its_inputs_changes_nothing(
    alice, alice_team, alice_tenant, alice_api, alice_web, charlie_tenant
):
    management = ManagementClient(make_management_key(team=alice_team))
    org = f"/v1/org/{alice_team.organisation_id}"
    stuffing = {**STUFFING, "tenant": charlie_tenant.pk, "tenant_id": charlie_tenant.pk}

    made = alice_api.post("/v2/user", {"client_user_id": "one", **stuffing})
    user = User.unscoped.get()
    alice_api.patch(f"/v2/user/{user.uuid}", {"client_user_id": "two", **stuffing})
    management.patch(f"{org}/team/{alice_team.pk}", {"name": "Renamed", **stuffing})
    alice_web.post(
        f"{PLACE}/profile/", {"name": "Alice", "email": alice.email, **stuffing}
    )
    alice_web.post(f"{PLACE}/settings/", {"name": "Renamed", **stuffing})
    management.post(
        f"{org}/team/{alice_team.pk}/invites",
        {"email": "dana@assay.example", "role": "team_admin", **stuffing},
    )

    user.refresh_from_db()
    alice.refresh_from_db()
    team = Team.objects.get(pk=alice_team.pk)
    assert made.status_code == 200
    assert (user.tenant, user.deleted_at) == (alice_tenant, None)
    assert str(user.uuid) != STUFFING["uuid"]
    assert user.created_on.year > 1999
    assert (alice.is_staff, alice.is_superuser, alice.is_active) == (False, False, True)
    assert team.organisation_id == alice_team.organisation_id
    assert not Member.objects.filter(is_staff=True).exists()
    assert not User.unscoped.filter(tenant=charlie_tenant).exists()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../portal/settings.py",
        "/static/%2e%2e/portal/settings.py",
        "/static/css/..%2f..%2f..%2fportal/settings.py",
        "/static//etc/passwd",
        "/logos/..%2f..%2fmanage.svg",
        "/connect/colors/..%2f..%2fcss.css",
        "/api/docs/events/..%2f..%2fsettings/",
        f"{PLACE}/reports/..%2f..%2fetc/page/1/",
    ],
)
def test_no_path_leads_out_of_its_folder(alice_web, path):
    reply = alice_web.get(path)

    assert reply.status_code in {302, 404}
    assert b"SECRET_KEY" not in reply.content
    assert b"root:" not in reply.content


def test_a_file_lies_where_we_say_whatever_it_is_called(alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)
    names = ("../../../evil.pdf", "a\r\nX-Evil: 1")
    pdf = b"%PDF-1.4 is refused, and stored nowhere"

    for name in names:
        file = SimpleUploadedFile("a", pdf, "application/pdf")
        file._name = name
        upload(alice_api, form={"user_id": str(user.uuid), "file": [file]})
    kept = upload(alice_api, user=user)

    (row,) = ReportFile.unscoped.all()
    (path,) = stored_files()
    assert kept.status_code == 200
    assert path.resolve().is_relative_to(settings.UPLOADS_DIR)
    assert path.name in row.stored_as
    assert "evil" not in row.stored_as


def test_a_name_breaks_out_of_no_header(alice_web, alice_team, alice_tenant):
    broken = "North\r\nBcc: thief@assay.example\r\nSet-Cookie: a=b"
    zone = {"time_zone": "UTC"}
    alice_web.post(f"{PLACE}/settings/", {"name": broken, **zone})
    # An ID with an email address in it is refused.
    no_email = broken.replace("@assay.example", "")
    make_user(tenant=alice_tenant, client_user_id=no_email)

    invited = alice_web.post(
        f"{PLACE}/members/invite/",
        {"email": "dana@assay.example", "roles": [Role.VIEWER.value]},
    )
    file = alice_web.get(f"{PLACE}/users/", {"format": "csv"})

    assert invited.status_code < 500
    for reply in (invited, file):
        assert "a=b" not in str(reply.headers)
    for message in mail.outbox:
        assert message.recipients() == ["dana@assay.example"]
        assert len(str(message.subject).splitlines()) == 1
        assert message.message()["Bcc"] is None


def test_a_body_that_unpacks_to_more_is_not_unpacked(alice_api, alice_tenant):
    packed = gzip.compress(json.dumps({"client_user_id": "a" * 50_000_000}).encode())
    deep = "[" * 200_000

    told = alice_api.post("/v2/user", packed, headers={"Content-Encoding": "gzip"})
    sunk = alice_api.generic("POST", "/v2/user", deep, "application/json")
    long = alice_api.generic(
        "POST", "/v2/user", b" " * (10 * 1024 * 1024 + 1), "application/json"
    )

    assert [told.status_code, sunk.status_code, long.status_code] == [422, 422, 413]
    assert long.json()["code"] == "body_too_large"
    assert not User.unscoped.filter(tenant=alice_tenant).exists()
