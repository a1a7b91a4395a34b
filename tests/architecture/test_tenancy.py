from __future__ import annotations

import ast

import pytest
from django.apps import apps
from django.db import connection, models, transaction

from accounts.models import Organisation
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import (
    ALL_TENANTS,
    TenantOwned,
    UnscopedQuery,
    across_tenants,
    acting_for,
)
from tests import fence
from tests.architecture.source import PACKAGES, modules
from tests.factories.accounts import make_tenant
from tests.factories.users import make_user
from users.models import User

OUR_MODELS = [m for m in apps.get_models() if m.__module__.split(".")[0] in PACKAGES]
TENANT_MODELS = [m for m in OUR_MODELS if issubclass(m, TenantOwned)]

# Where `.unscoped` may stand, and why.
UNSCOPED_MODULES = {
    "portal/lib/tenancy.py": "defines it",
    "portal/lib/idempotency.py": "writes a claim of the caller's tenant",
    "accounts/api/v1/keys.py": "keys of all teams that a management key manages",
    "accounts/operations/api_keys/api_keys.py": "a key is read before its tenant",
    "accounts/operations/api_keys/access_tokens.py": "a token as well",
    "accounts/operations/api_keys/assertions.py": "an assertion as well",
    "accounts/operations/members/saved_views.py": "forgets an erased user",
    "accounts/operations/assistants.py": "as well; the sweep of calls of assistants",
    "accounts/operations/notices.py": "mails members of all tenants, one by one",
    "accounts/operations/audit/chain.py": "seals the audit of all tenants",
    "accounts/webhooks/operations/alerts.py": "looks for failing ones of all tenants",
    "accounts/webhooks/management/commands/listen.py": "a port may be several teams'",
    "users/operations/users/users.py": "the sweep of erasures works over all tenants",
    "users/operations/demo_sources.py": "the sweep of demo users as well",
    "users/operations/sources/bulk.py": "the sweep of bulk operations",
    "users/operations/sources/cadences.py": "cadences are learnt in all tenants",
    "users/operations/retention.py": "deletes by keys of one tenant's rows",
    "users/operations/sources/gaps.py": "the sweep of gaps as well",
    "users/operations/sources/silence_notices.py": "looks at sources of all tenants",
    "users/operations/sources/failure_notices.py": "as above",
    "users/operations/sources/pausing.py": "the sweep of ended ingestion does as well",
    "users/operations/data/daily_totals.py": "looks for arrivals of all tenants",
    "users/operations/data/summaries.py": "the sweep of arrivals as well",
    "users/operations/pulling/pushed.py": "the sweep of pushed content as well",
    "users/operations/pulling/refresh.py": "the sweep of refreshes as well",
    "users/operations/sources/pulls.py": "the sweep of pulls as well",
    "users/operations/pulling/pushes.py": "a push names an account, and no tenant",
    "users/operations/sources/credentials.py": "a push's address names credentials",
    "users/operations/pulling/pulling.py": "the sweep of cloud sources as well",
    "users/operations/connect/link_sessions.py": "the sweep of old links as well",
    "exchange/operations/sharing/links.py": "a link is read before its tenant",
    "users/operations/phones/pairing.py": "a code is read before its tenant",
    "users/operations/phones/tokens.py": "a phone's token as well",
    "users/operations/phones/uploads.py": "the sweep of old batches of phones",
    "users/operations/erasure.py": "erases by tenant key and user",
    "users/operations/packing.py": "packs what is closed in all tenants",
    "users/operations/users/export.py": "as erasure; the sweep of archives as well",
    "users/operations/imports/files.py": "as erasure; the sweep of files as well",
    "users/operations/imports/status.py": "the sweep of unconfirmed imports as well",
    "reports/operations/reading/files.py": "the sweep of files works over all tenants",
    "reports/operations/mail/polling.py": "polls the mailboxes of all teams",
    "reports/queries/mail.py": "the health of mailboxes of all teams",
    "labs/operations/catalogue/catalogue_changes.py": "a lab's tests are all teams'",
    "labs/operations/catalogue/import_catalogue.py": "a lab's tests are all teams'",
    "labs/operations/erasure.py": "erases by tenant key and user",
    "labs/operations/documents/lab_documents.py": "the sweep of files as well",
    "labs/operations/orders/requisitions.py": "starts scheduled orders of all tenants",
    "labs/operations/appointments/calendar_feeds.py": "an address names no tenant",
    "labs/operations/appointments/upkeep.py": "settles visits of all tenants",
    "labs/operations/physicians/waiting_notices.py": "looks at orders of all tenants",
    "labs/operations/results/critical.py": "escalates what waits in all tenants",
    "labs/operations/results/critical_reports.py": "by keys of one tenant",
    "labs/operations/results/parsed_reports.py": "updates of one tenant's results",
    "labs/operations/shipments/couriers.py": "a courier is read before its tenant",
    "labs/operations/connections/mllp.py": "serves connections of all teams",
    "labs/operations/connections/answers.py": "the sweep of messages that ended",
    "labs/queries/connections.py": "serves connections of all teams",
    "labs/queries/results/outgoing.py": "the search for results of all teams",
    "exchange/operations/bulk_exports.py": "the sweep of exports; erases by tenant key",
    "exchange/operations/lake/due.py": "files of all tenants are compared",
    "exchange/operations/lake/erasure.py": "by keys of one tenant; all after a restore",
    "exchange/operations/lake/exporting.py": "exports months of all tenants",
    "exchange/operations/lake/verifying.py": "files of all tenants are read",
    "exchange/queries/lake.py": "operators see files of all tenants",
    "labs/models/account.py": "defines a fence of its own",
    "labs/models/order.py": "leaves out orders of deleted users, in a subquery",
    "users/admin.py": "operators count connections over all tenants",
    "labs/operations/inbound/unchecked_reports.py": "a search over all tenants",
}
# Where `across_tenants` may stand, and why.
ACROSS_MODULES = {
    "exchange/management/commands/lake.py": "exports months of all tenants",
    "portal/ops/health/lake.py": "files of all tenants are counted",
    "users/management/commands/distribute_samples.py": "samples of all are spread",
    "users/management/commands/pack_samples.py": "packs in all tenants",
    "portal/lib/tenancy.py": "defines it",
    "portal/lib/jobs/jobs.py": "periodic jobs have no tenant",
    "labs/admin.py": "a lab's tests are all teams'",
    "labs/management/commands/import_lab_catalogue.py": "a lab's tests are all teams'",
    "portal/ops/operators.py": "operators look at every tenant",
    "portal/ops/key_rotation.py": "keys are the installation's",
    "portal/ops/isolation/probing.py": "ids of a tenant are read to knock with",
    "portal/ops/backups.py": "a backup holds the rows of all",
    "portal/ops/metrics.py": "counts what waits, of all teams",
    "portal/ops/health/audit.py": "the chains of all teams are looked at",
    "portal/ops/health/roles.py": "asks whether the database believes it",
    "portal/management/commands/migrate.py": "migrations work on all rows",
    "portal/demo/data.py": "makes the demo teams",
    "portal/demo/access.py": "a key tells its tenant only once it is found",
    "accounts/api/management.py": "an organisation's teams and their audits",
    "accounts/operations/teams/deletion.py": "a team is erased in both environments",
    "accounts/webhooks/management/commands/listen.py": "a port may be several teams'",
    "accounts/management/commands/create_team.py": "a new team has no tenant yet",
    "accounts/management/commands/create_management_key.py": "audited in both tenants",
    "accounts/management/commands/verify_audit.py": "any team's seals say up to where",
    "accounts/management/commands/release_sign_in.py": "audited in both tenants",
    "labs/operations/connections/mllp.py": "serves connections of all teams",
    "labs/operations/connections/files.py": "every team's servers are visited",
    "labs/queries/connections.py": "serves connections of all teams",
    "reports/queries/mail.py": "the health of mailboxes of all teams",
    "users/store/retention.py": "all users of a tenant are looked through",
}


def setting() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('assay.tenant', true), '')")
        return cursor.fetchone()[0]


@pytest.mark.parametrize("model", OUR_MODELS, ids=lambda m: m._meta.label)
def test_every_table_declares_its_rules_and_belongs_to_a_tenant_or_says_why_not(model):
    rules = vars(model).get("rules")

    assert isinstance(rules, TableRules), (
        f"declare `rules = TableRules(...)` (portal.lib.table_rules) in {model}"
    )
    assert issubclass(model, TenantOwned) != bool(rules.without_tenant), (
        f"inherit TenantOwned in {model}, or declare in its rules `without_tenant`,"
        " the reason why a row belongs to no tenant"
    )


@pytest.mark.parametrize("model", TENANT_MODELS, ids=lambda m: m._meta.label)
def test_a_tenant_table_refuses_to_be_read_without_a_tenant(model):
    assert model._meta.default_manager_name == "unscoped"
    assert model._meta.base_manager_name == "unscoped"
    for query in ("all", "count", "first", "exists"):
        with pytest.raises(UnscopedQuery):
            getattr(model.objects, query)()
    for query in ("filter", "get", "create"):
        with pytest.raises(UnscopedQuery):
            getattr(model.objects, query)(pk=1)


@pytest.mark.parametrize("model", TENANT_MODELS, ids=lambda m: m._meta.label)
def test_foreign_keys_of_tenant_tables_stay_inside_or_point_at_the_tenant(model):
    outside = {
        field.name: field.related_model._meta.label
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
        and not issubclass(field.related_model, TenantOwned)
    }

    shared = {"accounts.Tenant", "accounts.Member", "labs.LabAccount"}
    shared.add("accounts.Membership")  # of the tenant's team
    shared |= {"labs.Lab", "labs.ExpectedResult"}  # the reference set
    assert set(outside.values()) <= shared


def test_foreign_keys_point_down():
    order = {
        "portal": 0,
        "webhooks": 1,
        "accounts": 1,
        "users": 2,
        "labs": 3,
        "reports": 4,
        "exchange": 5,
    }
    upward = [
        f"{model._meta.label}.{field.name}"
        for model in OUR_MODELS
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey)
        and field.name != "tenant"
        and field.related_model in OUR_MODELS
        and order[field.related_model._meta.app_label] > order[model._meta.app_label]
    ]

    assert upward == []


def users_of(name: str) -> set[str]:
    return {
        path
        for path, tree in modules(word=name)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == name)
        or (isinstance(node, ast.Name) and node.id == name)
    }


def test_unscoped_stands_only_where_it_says_why():
    assert users_of("unscoped") - set(UNSCOPED_MODULES) == set()


def test_across_tenants_stands_only_where_it_says_why():
    assert users_of("across_tenants") - set(ACROSS_MODULES) == set()


def writes_status(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=targets):
            return any(
                isinstance(t, ast.Attribute) and t.attr == "status" for t in targets
            )
        case ast.Call(func=ast.Attribute(attr="update" | "setattr"), keywords=keywords):
            return any(keyword.arg == "status" for keyword in keywords)
    return False


def test_status_is_written_in_one_place():
    found = {
        path
        for path, tree in modules(word="status")
        if any(writes_status(node) for node in ast.walk(tree))
    }

    # The second is an HTTP status in the store of answers, not a state.
    assert found == {"portal/lib/database/transitions.py", "portal/lib/idempotency.py"}


@pytest.mark.django_db
def test_for_tenant_sees_its_own_rows_alone():
    mine, other = make_tenant(), make_tenant()
    user = make_user(tenant=mine)
    make_user(tenant=other)

    assert list(User.objects.for_tenant(mine)) == [user]


@pytest.mark.django_db
def test_acting_for_names_the_tenant_and_puts_back_what_was():
    tenant, other = make_tenant(), make_tenant()

    with acting_for(tenant):
        named = setting()
        with across_tenants(why="a test"):
            opened = setting()
        with acting_for(other.pk):
            inner = setting()
        restored = setting()

    assert (named, opened, inner) == (str(tenant.pk), ALL_TENANTS, str(other.pk))
    assert restored == str(tenant.pk)
    assert setting() == ALL_TENANTS


@pytest.mark.django_db
def test_acting_for_puts_back_what_was_after_an_error():
    tenant = make_tenant()

    with pytest.raises(LookupError), acting_for(tenant):
        raise LookupError

    assert setting() == ALL_TENANTS


@pytest.mark.django_db(transaction=True)
def test_acting_for_survives_a_rolled_back_transaction():
    tenant = make_tenant()

    with acting_for(tenant):
        with transaction.atomic():
            Organisation(name="lost").save()
            transaction.set_rollback(True)
        inside = setting()

    assert inside == str(tenant.pk)
    assert setting() == ALL_TENANTS


@pytest.mark.django_db(transaction=True)
def test_a_broken_transaction_leaves_no_tenant_on_the_connection():
    tenant = make_tenant()

    with (
        pytest.raises(Exception, match="division by zero"),
        transaction.atomic(),
        acting_for(tenant),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT 1 / 0")

    assert setting() == ALL_TENANTS


@pytest.mark.django_db(transaction=True)
def test_a_call_after_the_server_dropped_the_connection_is_served(
    alice_api, monkeypatch
):
    alice_api.get("/v2/providers")
    # The suite's own word to the connection would notice first.
    monkeypatch.setattr(fence, "_say", lambda _value: "")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()

    reply = alice_api.get("/v2/providers")

    assert reply.status_code == 200


def test_across_tenants_needs_a_reason():
    with pytest.raises(ValueError, match="reason"), across_tenants(why=""):
        pass
