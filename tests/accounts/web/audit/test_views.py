from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.operations.audit.chain import hash_audit_entry
from accounts.operations.audit.entries import record_change, record_read
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from tests.factories.accounts import make_member
from tests.factories.users import make_user
from tests.statements import count_statements

pytestmark = pytest.mark.django_db
PAGE = "/t/alice-health/sandbox/audit/"
HTMX = {"HX-Request": "true"}
CI = Actor(ActorKind.API_KEY, "17", "=ci", "192.0.2.7")
DANA = Actor(ActorKind.MEMBER, "42", "dana@assay.example", "192.0.2.8")


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_1")


@pytest.fixture
def entries(alice_tenant, user):
    """A read by a key, a change by a member."""
    record_read(
        tenant=alice_tenant,
        actor=CI,
        subject="heartrate",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    record_change(
        tenant=alice_tenant,
        actor=DANA,
        verb="rotate_api_key",
        subject="api_key",
        subject_id="key-9",
        changes={"label": ["a", "b"], "fields": ["dob"]},
    )


def shown(reply):
    return [(row.entry.verb, row.entry.subject) for row in reply.context["rows"]]


def file_of(reply):
    return b"".join(reply.streaming_content).decode()


def test_the_page_says_who_did_what_to_whom_and_from_where(alice_web, entries, user):
    reply = alice_web.get(PAGE)

    change, read = reply.context["rows"][:2]
    items = [(each.name, each.old, each.new, each.is_named) for each in change.changes]
    text = " ".join(reply.content.decode().split())
    assert (change.who, change.deed, change.thing) == (
        "Member",
        "rotated API key",
        "key-9",
    )
    assert items == [("dob", "", "", True), ("label", "a", "b", False)]
    assert (read.who, read.deed, read.thing, read.user_name) == (
        "API key",
        "read heartrate",
        "",
        "mbr_1",
    )
    assert "<b>dana@assay.example</b> rotated API key" in text
    assert "label: a → b" in text
    assert "192.0.2.7" in text
    own = AuditEntry.unscoped.latest("id")
    assert (own.verb, own.subject) == ("read", "audit")
    assert own.request_id == reply["X-Request-ID"]


def test_the_page_takes_as_many_queries_for_fifty_as_for_two(
    alice_web, alice_tenant, entries, user
):
    alice_web.get(PAGE)
    with count_statements() as few:
        alice_web.get(PAGE)
    for _ in range(60):
        record_read(
            tenant=alice_tenant,
            actor=CI,
            subject="x",
            subject_id="1",
            user_uuid=user.uuid,
        )

    with count_statements() as many:
        first = alice_web.get(PAGE)

    older = alice_web.get(PAGE, {"before": first.context["after"]}, headers=HTMX)
    assert len(many) == len(few)
    assert len(first.context["rows"]) == 50
    keys = [row.entry.pk for row in (*first.context["rows"], *older.context["rows"])]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)
    assert b"<html" not in older.content


def test_entries_are_found_by_each_filter(alice_web, alice_tenant, entries, user):
    found = {
        "kind=reads&actor=17": [("read", "heartrate")],
        "kind=changes&actor=42": [("rotate_api_key", "api_key")],
        "verb=rotate_": [("rotate_api_key", "api_key")],
        "subject=heart": [("read", "heartrate")],
        "q=key-": [("rotate_api_key", "api_key")],
        f"q={str(user.uuid)[:9]}&kind=reads&actor=17": [("read", "heartrate")],
        "q=mbr_1&kind=reads&actor=17": [("read", "heartrate")],
        f"user={user.uuid}&kind=reads&actor=17": [("read", "heartrate")],
        f"user={uuid4()}": [],
        "q=mbr_": [],
        "verb=rotate_&since=2020-01-01T00:00&until=2020-01-02T00:00": [],
        "actor=17&kind=nonsense&period=nonsense&user=x&since=x&before=x": [
            ("read", "heartrate")
        ],
    }

    replies = {query: shown(alice_web.get(f"{PAGE}?{query}")) for query in found}

    assert replies == found


def test_a_file_holds_what_the_filters_match_and_all_it_takes_to_check_it(
    alice_web, alice_tenant, entries, user
):
    lines = file_of(alice_web.get(f"{PAGE}file/?format=ndjson&actor=17"))
    table = file_of(alice_web.get(f"{PAGE}file/?format=csv&actor=17"))

    (line,) = [json.loads(each) for each in lines.splitlines()]
    (row,) = csv.DictReader(table.splitlines())
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(subject="heartrate")
    says = line.pop("says")
    changes = json.dumps(line.pop("changes"))
    key, tenant, at, *texts, request_id = line.values()
    told = hash_audit_entry(
        b"", (key, tenant, datetime.fromisoformat(at), *texts, changes, request_id)
    )
    kept = (
        *(entry.pk, entry.tenant_id, entry.at, "read", "heartrate", str(user.uuid)),
        *(user.uuid, "api_key", "17", "=ci", "192.0.2.7", "{}", ""),
    )
    assert told == hash_audit_entry(b"", kept)
    assert says == f"=ci read heartrate of user {user.uuid}"
    assert row["actor_label"] == "'=ci"
    taken = AuditEntry.objects.for_tenant(alice_tenant).filter(subject="audit_file")
    assert [each.subject_id for each in taken.order_by("id")] == ["ndjson", "csv"]


def test_the_access_log_counts_by_day_actor_and_thing(
    alice_web, alice_tenant, user, time_machine
):
    now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    for days, actor in ((400, CI), (1, CI), (0, DANA), (0, CI), (0, CI)):
        time_machine.move_to(now - timedelta(days=days), tick=False)
        record_read(
            tenant=alice_tenant,
            actor=actor,
            subject="sleep",
            subject_id=user.uuid,
            user_uuid=user.uuid,
        )
    record_read(
        tenant=alice_tenant, actor=CI, subject="user_list", subject_id="limit=1"
    )
    place = f"{PAGE}users/{user.uuid}/"
    session = timezone.now()

    reply = alice_web.get(place)
    table = alice_web.get(f"{place}?format=csv&period=all").content.decode()

    lines = [
        (look.day.isoformat(), look.actor_label, what, look.times)
        for look, _, what in reply.context["lines"]
        if look.subject == "sleep"
    ]
    assert lines == [
        ("2026-03-02", "=ci", "read sleep", 2),
        ("2026-03-02", "dana@assay.example", "read sleep", 1),
        ("2026-03-01", "=ci", "read sleep", 1),
    ]
    assert (reply.context["reads"], reply.context["lists"]) == (4, 1)
    assert "2025-01-26,API key,'=ci,read sleep,1" in table
    out = StringIO()
    slug = alice_tenant.team.slug
    call_command(
        "access_log",
        *("--team", slug, "--user", str(user.uuid), "--since", "2026-03-02"),
        stdout=out,
    )
    assert "2026-03-02,api_key,'=ci,read,sleep,2,2026-03-02T09:00:00Z" in out.getvalue()
    assert "2026-03-01" not in out.getvalue()
    with pytest.raises(CommandError):
        call_command("access_log", "--team", slug, "--user", str(uuid4()))
    own = AuditEntry.objects.for_tenant(alice_tenant).filter(
        at__gte=session, subject="audit", user_uuid=user.uuid
    )
    assert own.count() == 3


def test_nobody_else_sees_the_audit(alice_team, client, alice_web, entries, user):
    for path in (PAGE, f"{PAGE}file/", f"{PAGE}users/{user.uuid}/"):
        for role in set(Role) - {Role.OWNER, Role.ADMIN}:
            client.force_login(make_member(team=alice_team, roles=(role,)))
            assert client.get(path).status_code == 403
    for unknown in (uuid4(), "x", UUID(int=0)):
        assert alice_web.get(f"{PAGE}users/{unknown}/").status_code == 404
