"""An optional field of any operation, sent empty, null and not at all (contract 1.1).

An optional text that is empty is answered as one that is absent, and in a PATCH as
null; of dates, numbers, IDs and texts of a closed set an empty one is refused at its
place. In other bodies null is as good as absent. Bodies are made out of the document.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from copy import deepcopy
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client

from accounts.operations.api_keys.management_keys import create_management_key
from accounts.states import Environment, ManagementRole
from labs.models import LabTest
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.contract.document import document
from tests.contract.test_any_request import GUESSES, WORDS
from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.labs import ADDRESS, PATIENT, PHYSICIAN

_COMPONENT = "#/components/schemas/"
# What the server makes anew for each call, by name and by form.
_MADE = {
    *("id", "value", "url", "link_token", "link_web_url", "payor_code", "token"),
    *("sign_in_token", "key", "secret", "sample_id", "ids", "order_ids"),
}
_MOMENT = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+\S*")
VALUES = {
    **{name: PATIENT[name] for name in PATIENT},
    **ADDRESS,
    **PHYSICIAN,
    "email": "ada@assay.example",
    "receiver_name": "Ada Example",
    "zip_code": "85004",
    "date": "2026-11-02",
    "calendar_date": "2026-11-02",
    "period_start": "2026-11-02",
    "period_end": "2026-11-05",
    "cycle_end": "2026-11-20",
    "session_start": "2026-11-02T22:00:00",
    "session_end": "2026-11-03T06:00:00",
    "bedtime_start": "2026-11-02T22:00:00Z",
    "bedtime_stop": "2026-11-03T06:00:00Z",
    "time_start": "2026-11-02T10:00:00Z",
    "time_end": "2026-11-02T11:00:00Z",
    "timestamp": "2026-11-02T10:00:00Z",
    "stage_start_offset_second": [0],
    "stage_end_offset_second": [3600],
    "stage_type": [1],
    "value": 60,
    "url": "https://receiver.example/hook",
    "codes": ["E11.9"],
    "start_at": "2026-11-02T10:00:00Z",
    "happened_at": "2026-11-02T10:00:00Z",
    "update_reason": "OTHER",
}
# What a body needs although no single field of it is required.
NEEDED = {
    "order_set": lambda known: {"lab_test_ids": [known["lab_test_id"]]},
    "timestamp": lambda known: known["timestamp"],
    "value": lambda known: known["value"],
}


def schema_of(node):
    """A schema with its reference followed and its parts merged."""
    while True:
        if "$ref" in node:
            node = document()["components"]["schemas"][
                node["$ref"].removeprefix(_COMPONENT)
            ]
        elif "allOf" in node:
            node = {**node, **schema_of(node["allOf"][0])}
            node.pop("allOf", None)
        elif "anyOf" in node or "oneOf" in node:
            node = next(
                each
                for each in node.get("anyOf", node.get("oneOf"))
                if each.get("type") != "null"
            )
        else:
            return node


def kinds(schema):
    found = schema.get("type", [])
    return {found} if isinstance(found, str) else set(found)


def is_text(schema):
    """Whether any text may be sent: no form, no set and no shortest length is told."""
    return (
        "string" in kinds(schema)
        and not schema.keys() & {"enum", "const", "minLength"}
        and schema.get("format") not in {"date", "date-time", "uuid"}
        and not WORDS.search(schema.get("description", ""))
    )


class Maker:
    """Makes values out of schemas, by name where a value is known."""

    def __init__(self, known):
        self.known = known

    def value(self, name, node):
        schema = schema_of(node)
        if name in self.known and (
            "string" in kinds(schema) or not isinstance(self.known[name], str)
        ):
            return self.known[name]
        words = WORDS.match(schema.get("description", ""))
        match sorted(kinds(schema) - {"null"}):
            case ["object"]:
                return self.required(schema)
            case ["array"]:
                return [self.value(name.removesuffix("s"), schema.get("items", {}))]
            case ["boolean"]:
                return True
            case ["integer"] | ["number"]:
                return schema.get("minimum", 1)
            case _:
                if "enum" in schema:
                    return schema["enum"][0]
                if words:
                    return words[1].split(", ")[0]
                forms = {
                    "date": "2026-11-02",
                    "date-time": "2026-11-02T10:00:00Z",
                    "uuid": "0b5ad4a5-6d62-4a0d-8d1e-2b6d2f6a9c11",
                    "email": "ada@assay.example",
                    "uri": "https://receiver.example/hook",
                }
                return forms.get(schema.get("format"), "Text")

    def required(self, schema):
        return {
            name: NEEDED[name](self.known)
            if name in NEEDED
            else self.value(name, inner)
            for name, inner in schema.get("properties", {}).items()
            if name in schema.get("required", ()) or name in NEEDED
        }


def without_made(answer):
    """The answer but for what is made anew for each call."""
    if isinstance(answer, dict):
        return {
            name: without_made(each)
            for name, each in answer.items()
            if name not in _MADE
        }
    if isinstance(answer, list):
        return [without_made(each) for each in answer]
    return _MOMENT.sub("~", answer) if isinstance(answer, str) else answer


def optional_fields(schema, at=(), seen=()):
    """(place, schema) of each optional property, those of inner objects too."""
    schema = schema_of(schema)
    if "array" in kinds(schema) and "items" in schema:
        yield from optional_fields(schema["items"], (*at, 0), seen)
    if id(schema) in seen:
        return
    for name, inner in schema.get("properties", {}).items():
        resolved = schema_of(inner)
        if name not in schema.get("required", ()):
            yield (*at, name), resolved
        if kinds(resolved) & {"object", "array"}:
            yield from optional_fields(resolved, (*at, name), (*seen, id(schema)))


def with_containers(maker, schema, body, at):
    """The body with all that a place lies in."""
    schema, here = schema_of(schema), body
    for step in at[:-1]:
        inner = schema["items"] if step == 0 else schema["properties"][step]
        schema = schema_of(inner)
        if step != 0 and not here.get(step):
            here[step] = maker.value(step, inner)
        here = here[step]
        if isinstance(here, dict):
            for name, value in maker.required(schema).items():
                here.setdefault(name, value)
    return here


class Caller:
    """Calls as Alice; what a call writes is undone."""

    def __init__(self, keys):
        self.client = Client(headers=keys, raise_request_exception=True)

    def call(self, method, path, query, body):
        data = None if body is None else json.dumps(body)
        with transaction.atomic():
            reply = self.client.generic(
                method.upper(),
                f"{path}?{urlencode(query, doseq=True)}" if query else path,
                data or b"",
                content_type="application/json",
            )
            transaction.set_rollback(True)
        self.refused = []
        if reply.status_code == 422:
            self.refused = [tuple(line["loc"]) for line in reply.json()["detail"]]
        told = reply.content
        if reply.headers.get("Content-Type") == "application/json":
            told = without_made(reply.json())
        return reply.status_code, told


@pytest.mark.long
@pytest.mark.django_db
@pytest.mark.usefixtures("_one_connection")
@pytest.mark.timeout(600, func_only=True)
def test_an_empty_optional_field_is_absent_or_refused_at_its_place(
    alice_tenant,
    samples,  # noqa: F811
    time_machine,
):
    time_machine.move_to("2026-11-20T10:00:00Z", tick=False)
    _, managing = create_management_key(
        team=alice_tenant.team,
        actor=ACTOR,
        label="tests",
        role=ManagementRole.ORG_ADMIN,
    )
    caller = Caller(
        {
            "x-service-api-key": make_api_key(tenant=alice_tenant),
            "x-management-key": managing,
        }
    )
    panel = LabTest.objects.for_tenant(alice_tenant).get(pk=samples["lab_test_id"])
    known = (
        VALUES
        | GUESSES
        | samples
        | {
            "lab_test_ids": [samples["lab_test_id"]],
            "env": str(Environment.SANDBOX),
            "environment": str(Environment.SANDBOX),
            "resource": "heartrate",
            "lab_slug": panel.lab.slug,
            "collection_method": panel.method,
            "method": panel.method,
            "payor_code": "SBX001",
        }
    )
    known["client_user_id"] = "another"
    maker = Maker(known)
    path_maker = Maker(known | {"client_user_id": samples["client_user_id"]})
    wrong, tried, accepted = [], Counter(), set()

    def check(label, place, at, schema, replies, *, clears):
        """Compare the answers to a field that is absent, null and empty."""
        (absent, _), (null, null_lines), (empty, lines) = replies
        tried[label] += 1
        if absent[0] < 300:
            accepted.add(label)
        like = null if clears else absent
        if null is not None and not clears and null != absent:
            wrong.append((label, at, "null", absent, null))

        def is_named(found):
            return any(line[: len(at) + 1] == (place, *at) for line in found)

        if clears and is_named(null_lines):
            if not is_named(lines):
                wrong.append((label, at, "cleared by empty alone", like, empty))
        elif is_text(schema):
            if empty != like:
                wrong.append((label, at, "empty", like, empty))
        elif not is_named(lines):
            wrong.append((label, at, "not refused", like, empty))

    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            label = f"{method.upper()} {path}"
            told = operation.get("parameters", [])
            url = path
            for each in told:
                if each["in"] == "path":
                    value = path_maker.value(each["name"], each["schema"])
                    url = url.replace(f"{{{each['name']}}}", str(value))
            query = {
                each["name"]: maker.value(each["name"], each["schema"])
                for each in told
                if each["in"] == "query" and each.get("required")
            }
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            base = None if schema is None else maker.value("", schema)

            def ask(query, body, method=method, url=url):
                return caller.call(method, url, query, body), caller.refused

            for each in told:
                if each["in"] != "query" or each.get("required"):
                    continue
                inner = schema_of(each["schema"])
                inner = schema_of(inner["items"]) if "items" in inner else inner
                inner = {"description": each.get("description", ""), **inner}
                replies = (
                    ask(query, base),
                    (None, []),
                    ask({**query, each["name"]: ""}, base),
                )
                check(label, "query", (each["name"],), inner, replies, clears=False)
            if base is None:
                continue
            for at, inner in optional_fields(schema):
                if not kinds(inner) & {"string", "integer", "number", "boolean"}:
                    continue
                # A key that only some resources have is sent to one that has it.
                of = re.match(
                    r"(?:For|Required for) (\w+)", inner.get("description", "")
                )
                other = of and {
                    "intervals": "steps",
                    "workouts": "workout_distance",
                    "distances": "workout_distance",
                }.get(of[1], of[1])
                at_url = url.replace("heartrate", other) if other else url
                bodies = []
                for value in ("absent", None, ""):
                    body = deepcopy(base)
                    here = with_containers(maker, schema, body, at)
                    here.pop(at[-1], None)
                    if value != "absent":
                        here[at[-1]] = value
                    bodies.append(ask(query, body, url=at_url))
                clears = method == "patch" and "required" not in schema_of(schema)
                check(label, "body", at, inner, bodies, clears=clears)

    report = "\n".join(
        f"{label} {'.'.join(map(str, at))} {what}: {like} / {got}"
        for label, at, what, like, got in wrong
    )
    assert wrong == [], report
    assert len(tried) > 90
    assert sum(tried.values()) > 550
    assert len(accepted) > 70
