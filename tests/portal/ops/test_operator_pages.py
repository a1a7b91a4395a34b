"""The operators' admin over every table: words, groups, search, filters, queries."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from http import HTTPStatus

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from exchange.operations.lake.exporting import export_lake
from portal.lib.tenancy import across_tenants
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.factories.accounts import make_tenant
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.portal.ops.test_operators import (  # noqa: F401 - fixtures
    ADMIN,
    _fresh_counts,
    _one_half_minute,
    office,
    operator,
)
from users.models import User

pytestmark = pytest.mark.django_db

# English words whose plural is not the word with an s.
_NAIVE = re.compile(r"([^aeiou]ys|(s|x|z|ch|sh)s|infos|datas|medias|contents)$")
# Tables of some rows, and one whose key lets its holder in.
FEW_OR_SECRET = {"CallWindow", "Session"}


def registered():
    reverse("admin:index")  # the site takes tables without a page of their own in then
    return admin.site._registry


def test_every_table_has_a_plural_that_is_english():
    naive = {
        model.__name__: str(model._meta.verbose_name_plural)
        for model in registered()
        if _NAIVE.search(str(model._meta.verbose_name_plural))
    }

    assert naive == {}
    assert _NAIVE.search("connection entrys")
    assert _NAIVE.search("refreshs")


def test_tables_stand_in_the_groups_that_operators_look_for(office):  # noqa: F811
    groups = office.get(ADMIN).context["app_list"]

    assert [str(group["name"]) for group in groups] == [
        "Customers",
        "Users and their data",
        "Lab orders and results",
        "Reports and reviews",
        "Webhooks",
        "Sharing and exports",
        "Installation",
    ]
    rows = [row for group in groups for row in group["models"]]
    assert {row["model"] for row in rows} == set(registered())
    assert len(rows) == len(registered())
    names = [str(row["name"]) for row in rows]
    assert [name for name in names if "procrastinate" in name.lower()] == []
    for group in groups:
        words = [str(row["name"]).casefold() for row in group["models"]]
        assert words == sorted(words)
    assert office.get(f"{ADMIN}labs/").status_code == HTTPStatus.OK


def test_who_may_not_enter_reads_what_it_takes(alice_web, alice):
    """A team's admin can't grant it, so the page names no team's admin."""
    page = alice_web.get(ADMIN)

    assert page.status_code == HTTPStatus.FORBIDDEN
    assert page.templates[0].name == "admin/operators_only.html"
    words = page.content.decode()
    assert "manage.py create_operator" in words
    assert alice.email in words
    assert "team admin" not in words[words.index("<h1>") :]


def test_every_list_can_be_searched_and_asks_nothing_for_a_row(samples, rf, operator):  # noqa: F811
    """A row's columns are filled by the list's own query; filters have few values."""
    request = rf.get(ADMIN)
    request.user = operator
    without_search, asking, seen = [], {}, 0
    with across_tenants(why="as the site does"):
        for model, page in registered().items():
            if page.get_search_fields(request) == []:
                without_search.append(model.__name__)
            columns = page.get_list_display(request)
            for filtered in page.get_list_filter(request):
                model._meta.get_field(filtered.split("__")[0])
            rows = list(page.get_queryset(request)[:2])
            seen += bool(rows)
            with CaptureQueriesContext(connection) as asked:
                for row in rows:
                    for column in columns:
                        shown = getattr(page, column, None)
                        str(shown(row) if shown else getattr(row, column))
            if len(asked):
                asking[model.__name__] = asked[0]["sql"][:120]

    assert asking == {}
    assert set(without_search) <= FEW_OR_SECRET
    assert seen > 60


def test_a_row_is_found_by_its_user_or_its_team(office, alice_tenant, charlie_tenant):  # noqa: F811
    mine, other = (make_user(tenant=one) for one in (alice_tenant, charlie_tenant))
    make_tenant()

    def found(text):
        reply = office.get(f"{ADMIN}users/user/", {"q": text})
        return {row.pk for row in reply.context["cl"].result_list}

    assert found(mine.uuid) == {mine.pk}
    assert found(f" {other.uuid} ") == {other.pk}
    assert found(alice_tenant.team.name[1:]) == {mine.pk}
    assert found("no such team") == set()
    assert found(mine.client_user_id) == set()  # a team's own word for a person
    assert found("") == set(User.unscoped.values_list("pk", flat=True))


def test_the_lake_is_shown_by_team_and_data_with_its_runs(
    office,  # noqa: F811
    alice_tenant,
    tmp_path,
    settings,
):
    off = office.get(f"{ADMIN}lake/")
    settings.LAKE_DIR = str(tmp_path)
    empty = office.get(f"{ADMIN}lake/")
    user = make_user(tenant=alice_tenant)
    at = datetime(2026, 12, 20, tzinfo=UTC)
    put_samples(user, "caffeine", ("2026-10-03T07:00:00", 0, 95.5))
    with across_tenants(why="as the job does"):
        export_lake(at=at)

    full = office.get(f"{ADMIN}lake/")

    assert [page.status_code for page in (off, empty, full)] == [200, 200, 200]
    assert [page.context["is_on"] for page in (off, empty, full)] == [False, True, True]
    assert off.context["datasets"] == empty.context["datasets"] == []
    ((name, row),) = full.context["datasets"]
    assert (name, row.team, row.environment) == (
        "Samples",
        alice_tenant.team.name,
        "sandbox",
    )
    assert (row.first_month, row.files, row.rows) == (date(2026, 10, 1), 1, 1)
    assert [run.started_at for run in full.context["runs"]] == [at]
    assert str(tmp_path) in full.content.decode()
