"""Whatever the document allows, and what it does not, is answered: never by a fault.

Requests are made by schemathesis out of the document, the same ones in each run. Ids in
paths are Alice's own, so that a request comes further than to a 404.
"""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from itertools import product

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from accounts.operations.api_keys.management_keys import create_management_key
from accounts.states import Environment, ManagementRole
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.contract.document import document
from tests.factories.accounts import ACTOR, make_api_key, make_tenant

pytestmark = pytest.mark.usefixtures("as_web_role")

# Of requests that the document allows, and of others; the sandbox refuses least.
EXAMPLES = {Environment.SANDBOX: (1, 1), Environment.PRODUCTION: (1, 0)}
HOST = "http://testserver"
# What is guessed where the document says no more than that it is text.
GUESSES = {
    "start_date": "2026-11-01",
    "end_date": "2026-11-20",
    "provider": "oura",
    "time_zone": "Europe/Berlin",
    "env": "sandbox",
}
# What no input may name (tests.attacks.test_requests), said beside every one.
PLANTED = "0badf00d-0bad-4bad-8bad-0badf00d0bad"
STUFFING = dict.fromkeys(
    (
        *("pk", "tenant", "tenant_id", "organisation_id", "deleted_at", "revoked_at"),
        *("created_at", "created_on", "user_pk", "is_staff", "is_superuser"),
    ),
    PLANTED,
)
WORDS = re.compile(r"(?:Any case of|Known values): ([^.]+)")


@pytest.fixture(params=list(Environment), ids=str)
def alice_tenant(request, alice_team):
    return make_tenant(team=alice_team, environment=request.param)


@pytest.fixture
def keys(alice_tenant):
    _, managing = create_management_key(
        team=alice_tenant.team,
        actor=ACTOR,
        label="tests",
        role=ManagementRole.ORG_ADMIN,
    )
    return {
        "x-service-api-key": make_api_key(tenant=alice_tenant),
        "x-management-key": managing,
    }


def guided(told, known):
    """The document with what `known` has for a name, and no key asked for.

    A key is sent with every request. Values that are named in words are better guesses
    than any text, too.
    """
    if isinstance(told, list):
        return [guided(each, known) for each in told]
    if not isinstance(told, dict):
        return told
    inner = {
        name: guided(each, known) for name, each in told.items() if name != "security"
    }
    if told.get("type") == "object":
        for name, schema in inner.get("properties", {}).items():
            if name in known and schema.get("type") == "string":
                schema["enum"] = [known[name]]
    elif told.get("in") in {"path", "query"} and told.get("name") in known:
        inner["schema"] = {"type": "string", "enum": [known[told["name"]]]}
    words = WORDS.match(str(told.get("description", "")))
    if words and told.get("type") == "string":
        inner["enum"] = words[1].split(", ")
    return inner


def with_extra_fields(body):
    """The body with more in each of its objects than anybody may say."""
    if isinstance(body, dict):
        return STUFFING | {name: with_extra_fields(each) for name, each in body.items()}
    return (
        [with_extra_fields(each) for each in body] if isinstance(body, list) else body
    )


@pytest.mark.django_db
@pytest.mark.usefixtures("_one_connection")
@pytest.mark.timeout(300, func_only=True)
@pytest.mark.parametrize(
    "times", [1, pytest.param(4, marks=pytest.mark.long)], ids=["once", "often"]
)
def test_no_request_is_answered_by_a_fault(
    alice_tenant,
    keys,
    samples,  # noqa: F811
    times,
):
    known = GUESSES | samples
    del known["client_user_id"]  # a new user needs another
    schema = schemathesis.openapi.from_dict(guided(document(), known))
    schema.app = WSGIHandler()
    answers: dict[str, list[int]] = {}
    faults: dict[str, str] = {}
    written: list[str] = []
    posted: dict[str, set[int]] = {}

    def watch(execute, statement, values, many, context):
        told = values.values() if isinstance(values, dict) else values or ()
        if PLANTED in map(str, told):
            written.append(str(statement)[:100])
        return execute(statement, values, many, context)

    def call(case):
        case.body = with_extra_fields(case.body)
        with transaction.atomic():  # whose traces the next request does not meet
            with connection.execute_wrapper(watch):
                status = case.call(base_url=HOST, headers=keys).status_code
            transaction.set_rollback(True)
        answers.setdefault(case.operation.label, []).append(status)
        if isinstance(case.body, dict):
            posted.setdefault(case.operation.label, set()).add(status)
        if status >= 500:
            faults[case.operation.label] = case.as_curl_command()

    numbers = zip(GenerationMode, EXAMPLES[alice_tenant.environment], strict=True)
    for found, (mode, number) in product(schema.get_all_operations(), list(numbers)):
        if number == 0:
            continue
        asked = given(case=found.ok().as_strategy(mode))(call)
        with warnings.catch_warnings(), suppress(Unsatisfiable):
            warnings.simplefilter("ignore")
            settings(
                max_examples=times * number,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )(asked)()

    assert faults == {}
    assert written == []
    assert len(posted) > 50
    assert sum(min(each) < 300 for each in posted.values()) > 10
    assert len(answers) == sum(map(len, document()["paths"].values()))
    assert {label for label, each in answers.items() if 401 in each} == {
        # They ask for the token of a link, which nobody has.
        "GET /v2/link/provider/oauth/{provider}",
        "GET /v2/link/providers",
    }
