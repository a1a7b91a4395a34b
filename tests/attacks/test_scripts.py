"""Stored scripts: a tag in every stored text and JSON, and every page that shows it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from psycopg import sql

from accounts.models import AuditEntry, Member, Membership
from accounts.operations.audit.entries import record_change
from accounts.states import Role
from labs.states.catalogue import ChangeKind
from portal.lib.table_rules import list_table_rules
from portal.ops.isolation.endpoints import fill_route_parameters
from tests.architecture.source import PACKAGES
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    PAGES,
    samples,
)
from tests.factories.accounts import ACTOR
from tests.fence import forget_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("as_web_role")

TAG = "planted-tag"
PAYLOAD = f"\"'></script><{TAG} onload=x>"
# Texts that are read as something else than words: what they are, we alone write.
NO_WORDS = {
    "slug": "part of an address",
    "code": "of our own, or a lab's",
    "sha256": "a digest",
    "stored_as": "a name of a file that we chose",
    "time_zone": "of the IANA table",
    "fallback_time_zone": "as time_zone",
    "region": "part of an address",
    "loinc": "a code",
    "provider": "of our own table",
    "resource": "of our own table",
    "language": "a code",
    "query": "an address's, which is checked when it is saved",
    "page": "a name of a URL",
    "event_type": "of the catalogue",
    "message_id": "ours",
    "session_key": "a session's",
    "password": "a hash",
    "digest": "a hash",
    "key_hash": "a hash",
    "prefix": "ours",
    "request_id": "ours",
}
# Tables that a page reads as code does, and why a text of theirs is nobody's words.
NO_TABLES = {
    "accounts.AuditSeal": "hashes",
    "accounts.AuditEntry": "refuses changes; an entry of its own is planted",
    "accounts.ApiCall": "routes, of ours",
    "webhooks.Event": "JSON; tests.portal.ui.test_highlighting has its page",
    "users.ErasureReceipt": "numbers, and refuses changes",
    "users.Feed": "codes of samples",
    "users.Series": "codes of samples",
    "labs.OrderCount": "statuses and methods, of ours",
    "portal.IdempotentAnswer": "bytes that were answered",
}
# Times, ids, numbers and kinds of a change within JSON, which are read as such.
_KINDS = "|".join(ChangeKind)
_NO_WORD = re.compile(rf"\d{{4}}-\d\d-\d\d.*|[0-9a-f-]{{36}}|[\d.]+|{_KINDS}")


def text_columns() -> Iterator[tuple[type[models.Model], Any]]:
    """Each column that may hold a person's words."""
    encrypted = {
        (model._meta.label, name)
        for model, rules in list_table_rules()
        for name in rules.encrypted
    }
    for model in apps.get_models():
        label = model._meta.label
        if model.__module__.split(".")[0] not in PACKAGES or label in NO_TABLES:
            continue
        for field in model._meta.concrete_fields:
            of = field.base_field if isinstance(field, ArrayField) else field
            is_words = isinstance(of, models.CharField | models.TextField) and not (
                isinstance(of, models.SlugField | models.URLField)
                or of.flatchoices
                or field.is_relation
                or field.primary_key
                or field.name in NO_WORDS
                or (label, field.name) in encrypted
            )
            if is_words:
                yield model, field


def plant() -> int:
    """Put the tag behind every stored text; returns how many columns have it."""
    planted = 0
    with connection.cursor() as cursor:
        for model, field in text_columns():
            names = {
                "table": sql.Identifier(model._meta.db_table),
                "column": sql.Identifier(field.column),
            }
            if isinstance(field, ArrayField):
                value: sql.Composable = sql.SQL("ARRAY[%s]::text[]")
                room = field.base_field.max_length
            else:
                value = sql.SQL("{column} || %s").format(**names)
                room = field.max_length
            if room is not None and room < len(PAYLOAD) * 2:
                continue
            # Two empty ones would become the same name.
            unique = {
                name
                for each in model._meta.constraints
                if isinstance(each, models.UniqueConstraint)
                for name in each.fields
            }
            held = "<> ''" if field.name in unique else "IS NOT NULL"
            cursor.execute(
                sql.SQL(
                    "UPDATE {table} SET {column} = {value} WHERE {column} {held}"
                ).format(**names, value=value, held=sql.SQL(held)),
                [PAYLOAD],
            )
            planted += cursor.rowcount > 0
    return planted


def plant_inside() -> set[str]:
    """Put the tag behind every text within JSON; returns which columns have it."""
    planted = set()
    for model in apps.get_models():
        label = model._meta.label
        if model.__module__.split(".")[0] not in PACKAGES or label in NO_TABLES:
            continue
        for field in model._meta.concrete_fields:
            if not isinstance(field, models.JSONField):
                continue
            for row in model._base_manager.exclude(**{field.name: None}):
                held = getattr(row, field.name)
                if (spoilt := spoil(held)) != held:
                    planted.add(f"{label}.{field.name}")
                    model._base_manager.filter(pk=row.pk).update(**{field.name: spoilt})
    return planted


def spoil(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: spoil(inside, key) for key, inside in value.items()}
    if isinstance(value, list):
        return [spoil(inside, name) for inside in value]
    is_words = isinstance(value, str) and not (
        name in NO_WORDS or _NO_WORD.fullmatch(value)
    )
    return value + PAYLOAD if is_words else value


class Tags(HTMLParser):
    """Finds the tag, or an attribute of it, where a browser would."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.found |= tag == TAG or any("planted" in name for name, _ in attributes)


def runs(page: str) -> bool:
    tags = Tags()
    tags.feed(page)
    # A script ends at this, wherever in its text it stands.
    return tags.found or f"</script><{TAG}" in page


@pytest.mark.django_db
def test_no_stored_text_becomes_a_tag_on_any_page(
    samples,  # noqa: F811
    alice,
    alice_tenant,
    alice_web,
):
    Membership.objects.filter(member=alice).update(roles=[Role.OWNER, Role.CLINICIAN])
    user_id = samples["user_id"]
    record_change(
        tenant=alice_tenant,
        actor=ACTOR,
        verb="change_user",
        subject="user",
        subject_id=user_id,
        user_uuid=user_id,
        changes={"note": [None, PAYLOAD]},
    )
    columns = plant()
    inside = plant_inside()
    Member.objects.filter(pk=alice.pk).update(email=alice.email)

    ran, showed, failed = [], [], []
    for route in PAGES:
        path = fill_route_parameters(route, samples)
        reply = alice_web.get(path)
        if reply.status_code >= 500:
            failed.append(path)
        if not reply.get("Content-Type", "").startswith("text/html"):
            continue
        page = reply.content.decode()
        if runs(page):
            ran.append(route)
        if TAG in page:
            showed.append(route)

    assert ran == []
    assert failed == []
    # Escaped, it is on the pages: the tag went where people look.
    assert len(showed) >= 90
    assert columns >= 100
    assert {
        *("labs.Order.patient_details", "reports.ParsingJob.metadata"),
        *(
            "reports.ReviewRow.values",
            "users.Summary.body",
            "labs.Marker.aoe_questions",
        ),
    } <= inside
    forget_requests()  # answers in parts that nobody read
    assert AuditEntry.unscoped.exists()
