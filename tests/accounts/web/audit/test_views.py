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
    return [(row.entry.verb, row.entry.subject) for row in rows_of(reply)]


def rows_of(reply):
    return [row for group in reply.context["groups"] for row in group.rows]


def file_of(reply):
    return b"".join(reply.streaming_content).decode()


def test_the_page_says_who_did_what_to_whom_and_from_where(alice_web, entries, user):
    reply = alice_web.get(PAGE)

    change, read = rows_of(reply)[:2]
    by_dana, by_key = reply.context["groups"][:2]
    items = [(each.name, each.old, each.new, each.is_named) for each in change.changes]
    text = " ".join(reply.content.decode().split())
    assert (by_dana.who, change.deed, change.thing) == (
        "Member",
        "rotated API key",
        "key-9",
    )
    assert items == [("dob", "", "", True), ("label", "a", "b", False)]
    assert (by_key.who, read.deed, read.thing, read.user_name) == (
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


def test_the_page_takes_as_many_queries_for_two_hundred_as_for_two(
    alice_web, alice, alice_tenant, entries, user
):
    alice_web.get(PAGE)
    with count_statements() as few:
        alice_web.get(PAGE)
    member = Actor(ActorKind.MEMBER, str(alice.pk), alice.email)
    for number in range(240):
        record_read(
            tenant=alice_tenant,
            actor=(CI, member)[number % 2],
            subject="x",
            subject_id="1",
            user_uuid=user.uuid,
        )

    with count_statements() as many:
        first = alice_web.get(PAGE)

    older = alice_web.get(PAGE, {"before": first.context["after"]}, headers=HTMX)
    assert len(many) == len(few)  # of members and of keys in both
    assert len(rows_of(first)) == 200
    keys = [row.entry.pk for row in (*rows_of(first), *rows_of(older))]
    of_people = AuditEntry.objects.for_tenant(alice_tenant).exclude(actor_kind="system")
    until_then = of_people.filter(pk__lte=max(keys))
    assert {*keys} == {*until_then.values_list("pk", flat=True)}
    assert len(set(keys)) == len(keys)
    assert b"<html" not in older.content
    # The day that the page before began is not named twice.
    assert [group.day for group in older.context["groups"]] == [None] * len(
        older.context["groups"]
    )


def test_what_one_actor_does_without_a_pause_is_one_group(
    alice_web, alice, alice_tenant, user, time_machine
):
    alice.name = "Alice Marlow"
    alice.save(update_fields=["name"])
    member = Actor(ActorKind.MEMBER, str(alice.pk), alice.email, "192.0.2.9")
    other = make_user(tenant=alice_tenant, client_user_id="mbr_2")
    now = timezone.localtime().replace(hour=12, minute=0, second=0, microsecond=0)
    # Minutes before noon, actor, what was read, whose.
    for minutes, actor, subject, whose in (
        *((60, member, "order", user), (40, member, "results", user)),
        *((26, member, "results", user), (25, CI, "sleep", other)),
        *((24, member, "order", user), (20, CI, "sleep", user)),
        (10, member, "results", other),
    ):
        time_machine.move_to(now - timedelta(minutes=minutes), tick=False)
        record_read(
            tenant=alice_tenant,
            actor=actor,
            subject=subject,
            subject_id=whose.uuid,
            user_uuid=whose.uuid,
        )
    time_machine.move_to(now, tick=False)

    groups = alice_web.get(f"{PAGE}?kind=reads").context["groups"]

    assert [
        (each.name, each.group.deed, [name for _, name in each.users], len(each.rows))
        for each in groups
    ] == [
        ("Alice Marlow", "read results", ["mbr_2"], 1),
        ("=ci", "read sleep", ["mbr_1", "mbr_2"], 2),
        ("Alice Marlow", "read results, order", ["mbr_1"], 3),
        ("Alice Marlow", "read order", ["mbr_1"], 1),
    ]
    assert [each.day for each in groups] == [now.date(), None, None, None]
    assert groups[0].roles == ["Owner"]


def test_what_jobs_did_is_counted_and_shown_only_when_asked(
    alice_web, alice_tenant, entries, user
):
    job = Actor.system("pull")
    for _ in range(3):
        record_change(
            tenant=alice_tenant, actor=job, verb="record_samples", subject="heartrate",
            subject_id=user.uuid, user_uuid=user.uuid, changes={"why": "late"},
        )  # fmt: skip

    usual = alice_web.get(f"{PAGE}?kind=changes&verb=r")
    asked = alice_web.get(f"{PAGE}?kind=changes&verb=r&system=on")
    by_name = alice_web.get(f"{PAGE}?actor=pull")
    reasons = alice_web.get(f"{PAGE}?reason=on&system=on")
    file = file_of(alice_web.get(f"{PAGE}file/?format=ndjson&verb=record_"))

    assert (shown(usual), usual.context["hidden"]) == (
        [("rotate_api_key", "api_key")],
        3,
    )
    written = [("record_samples", "heartrate")] * 3
    assert (shown(asked), asked.context["hidden"]) == (
        [*written, ("rotate_api_key", "api_key")],
        0,
    )
    assert (shown(by_name), by_name.context["hidden"]) == (written, 0)
    assert shown(reasons) == written
    assert len(file.splitlines()) == 3


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
