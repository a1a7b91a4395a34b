from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.factories.accounts import ACTOR
from tests.factories.imports import make_import
from tests.factories.users import make_user
from users.models import ImportJob
from users.operations.connect.link_sessions import (
    LinkRequest,
    create_connect_link,
    sign_connect_link_token,
)
from users.states.imports import ImportStatus

pytestmark = pytest.mark.django_db
ROWS = b"resource,timestamp,value,unit\nheartrate,2026-03-01T08:00:00+00:00,61,bpm\n"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def session(user):
    return create_connect_link(
        user=user,
        actor=ACTOR,
        request=LinkRequest(redirect_url="https://north.example/done"),
    )


@pytest.fixture
def browser(session):
    browser = Client()
    browser.get("/connect/", {"token": sign_connect_link_token(session)})
    return browser


def test_a_file_is_sent_and_followed(user, session, browser, alice_tenant):
    place = f"/connect/{session.uuid}/"

    form = browser.get(f"{place}apple_health_kit/file/")
    sent = browser.post(
        f"{place}manual/file/", {"file": SimpleUploadedFile("mine.csv", ROWS)}
    )

    job = ImportJob.objects.for_tenant(alice_tenant).get()
    followed = browser.get(sent["Location"])
    assert "Export All Health Data" in form.content.decode()
    assert sent["Location"] == f"{place}imports/{job.id}/"
    assert (job.user, job.provider) == (user, "manual")
    assert 'hx-trigger="every 2s"' in followed.content.decode()


def test_with_script_the_answer_says_where_to_go(session, browser, alice_tenant):
    reply = browser.post(
        f"/connect/{session.uuid}/manual/file/",
        {"file": SimpleUploadedFile("mine.csv", ROWS)},
        headers={"HX-Request": "true"},
    )

    job = ImportJob.objects.for_tenant(alice_tenant).get()
    assert reply.status_code == 204
    assert reply["HX-Redirect"] == f"/connect/{session.uuid}/imports/{job.id}/"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"file": SimpleUploadedFile("mine.csv", b"")},
        {"file": SimpleUploadedFile("mine.pdf", b"%PDF-1.7\n")},
    ],
    ids=["none", "empty", "pdf"],
)
def test_what_is_no_health_data_stays_in_the_form(
    session, browser, alice_tenant, files
):
    reply = browser.post(f"/connect/{session.uuid}/manual/file/", files)

    assert reply.status_code == 422
    assert not ImportJob.objects.for_tenant(alice_tenant).exists()


def test_a_source_without_files_takes_none(session, browser):
    assert browser.get(f"/connect/{session.uuid}/oura/file/").status_code == 404


def test_a_finished_import_stops_asking_and_leads_back(user, session, browser):
    job = make_import(user=user, status=ImportStatus.COMPLETED, rows_accepted=3)
    place = f"/connect/{session.uuid}/imports/{job.id}/"

    part = browser.get(place, headers={"HX-Request": "true"})
    onward = browser.get(f"{place}finish/")

    text = part.content.decode()
    assert "3 records imported" in text
    assert "hx-trigger" not in text
    assert "<html" not in text
    assert onward["Location"] == (
        "https://north.example/done?state=success&provider=manual"
    )


def test_a_refused_import_says_what_the_file_looks_like(user, session, browser):
    job = make_import(
        user=user,
        status=ImportStatus.REFUSED,
        failure="file_damaged",
        recognized_as="a FIT file",
    )

    page = browser.get(f"/connect/{session.uuid}/imports/{job.id}/").content.decode()

    assert "The file is damaged or incomplete. Recognized as: a FIT file." in page


def test_an_import_of_another_user_or_under_way_leads_nowhere(
    user, session, browser, alice_tenant
):
    others = make_import(
        user=make_user(tenant=alice_tenant), status=ImportStatus.COMPLETED
    )
    open_one = make_import(user=user)

    replies = [
        browser.get(f"/connect/{session.uuid}/imports/{others.id}/"),
        browser.get(f"/connect/{session.uuid}/imports/{others.id}/finish/"),
        browser.get(f"/connect/{session.uuid}/imports/{open_one.id}/finish/"),
        browser.get(f"/connect/{session.uuid}/imports/none/"),
    ]

    assert [each.status_code for each in replies] == [404] * 4
