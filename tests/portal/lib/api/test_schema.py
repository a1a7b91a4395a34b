from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from portal.lib.api.fields import Inputs, OpenEnum, QueryInt, Str
from portal.lib.api.schema import (
    ApiSchema,
    JsonShape,
    Refusal,
    describe_api_operation,
    keep_only_api_paths_in_schema,
)
from portal.lib.api.views import mount_api_view
from portal.lib.choices import OpenChoices


class Colour(OpenChoices):
    RED = "red", "Red"
    BLUE = "blue", "Blue"


class Part(TypedDict):
    """A part."""

    name: str


class Whole(TypedDict):
    """A whole."""

    id: UUID
    at: datetime
    day: date | None
    colour: Annotated[str, Colour]
    maybe: Annotated[str, Colour] | None
    parts: list[Part]
    first: Part | None
    by_name: dict[str, int]
    kind: Literal["a", "b"]
    anything: Any
    number: int | float


class Wanted(Inputs):
    name = Str(max_length=9)
    colour = OpenEnum(Colour, required=False)


class All(Wanted):
    whole = True


class Asked(Inputs):
    limit = QueryInt(default=5, max_value=10)


class Things(TenantAPIView):
    @describe_api_operation(
        "list_things", "List things", answer=list[Whole], query=Asked
    )
    def get(self, request):
        """What more there is to say."""
        return Response([])

    @describe_api_operation(
        "make_thing",
        "Make a thing",
        status=202,
        answer=Whole,
        body=Wanted,
        refuses={400: Part | Refusal},
    )
    def post(self, request):
        return Response({})

    @describe_api_operation(
        "change_thing", "Change a thing", status=204, body=Wanted, refuses=(403, 404)
    )
    def patch(self, request):
        return Response(status=204)


INNER = JsonShape("Inner", {"type": "object", "properties": {}})
OUTER = JsonShape("Outer", {"type": "array", "items": INNER})


class ShapedThing(TenantAPIView):
    @describe_api_operation(
        "shape_thing", "Shape", answer=OUTER, body={"application/json": INNER}
    )
    def post(self, request):
        return Response([])


class WholeThing(TenantAPIView):
    @describe_api_operation("replace_thing", "Replace", answer=Whole, body=All)
    def patch(self, request):
        return Response({})


@pytest.fixture(scope="module")
def document():
    generator = SchemaGenerator(
        patterns=[
            mount_api_view("v2/things", Things),
            mount_api_view("v2/thing", WholeThing),
            mount_api_view("v2/shape", ShapedThing),
        ]
    )
    return generator.get_schema(request=None, public=True)


def body_of(reply):
    return reply["content"]["application/json"]["schema"]


def test_a_shape_becomes_a_component(document):
    shape = document["components"]["schemas"]["Whole"]
    part = {"$ref": "#/components/schemas/Part"}
    note = "Known values: red, blue. More may be added."

    assert shape["description"] == "A whole."
    assert shape["properties"] == {
        "id": {"type": "string", "format": "uuid"},
        "at": {"type": "string", "format": "date-time"},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "colour": {"type": "string", "description": note},
        "maybe": {"anyOf": [{"type": "string", "description": note}, {"type": "null"}]},
        "parts": {"type": "array", "items": part},
        "first": {"anyOf": [part, {"type": "null"}]},
        "by_name": {"type": "object", "additionalProperties": {"type": "integer"}},
        "kind": {"$ref": "#/components/schemas/KindEnum"},
        "anything": {},
        "number": {"type": ["integer", "number"]},
    }
    assert document["components"]["schemas"]["KindEnum"] == {
        "type": "string",
        "enum": ["a", "b"],
    }
    assert sorted(shape["required"]) == sorted(shape["properties"])
    assert document["components"]["schemas"]["Part"]["properties"] == {
        "name": {"type": "string"}
    }


def test_a_shape_given_as_json_schema_becomes_a_component(document):
    shaped = document["paths"]["/v2/shape"]["post"]

    inner = {"$ref": "#/components/schemas/Inner"}
    assert body_of(shaped["responses"]["200"]) == {"$ref": "#/components/schemas/Outer"}
    assert body_of(shaped["requestBody"]) == inner
    assert shaped["requestBody"]["required"] is True
    assert document["components"]["schemas"]["Inner"] == dict(INNER.schema)
    assert document["components"]["schemas"]["Outer"] == {
        "type": "array",
        "items": inner,
    }


def test_an_answer_may_be_a_list(document):
    listed = document["paths"]["/v2/things"]["get"]

    assert listed["operationId"] == "list_things"
    assert listed["summary"] == "List things"
    assert listed["description"] == "What more there is to say."
    assert body_of(listed["responses"]["200"]) == {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Whole"},
    }
    assert [(each["name"], each["in"]) for each in listed["parameters"]] == [
        ("limit", "query")
    ]


def test_refusals_have_their_shapes(document):
    made = document["paths"]["/v2/things"]["post"]
    refs = {
        status: [
            each["$ref"].rsplit("/", 1)[1] for each in schema.get("anyOf", [schema])
        ]
        for status, reply in made["responses"].items()
        for schema in [body_of(reply)]
    }

    assert refs == {
        "202": ["Whole"],
        "400": ["Part", "Refusal"],
        "401": ["Refusal"],
        "422": ["InvalidRequest"],
    }


def test_an_empty_answer_has_no_body(document):
    changed = document["paths"]["/v2/things"]["patch"]

    assert set(changed["responses"]) == {"204", "401", "403", "404", "422"}
    assert "content" not in changed["responses"]["204"]


def test_a_patch_requires_nothing_and_a_whole_write_its_keys(document):
    schemas = document["components"]["schemas"]
    changed = document["paths"]["/v2/things"]["patch"]["requestBody"]
    replaced = document["paths"]["/v2/thing"]["patch"]["requestBody"]

    assert body_of(changed)["$ref"].endswith("PatchedWantedRequest")
    assert "required" not in schemas["PatchedWantedRequest"]
    assert body_of(replaced)["$ref"].endswith("/AllRequest")
    assert schemas["AllRequest"]["required"] == ["name"]
    assert replaced["required"] is True


def test_an_input_enumeration_names_its_values(document):
    wanted = document["components"]["schemas"]["WantedRequest"]["properties"]

    assert wanted["colour"] == {
        "type": "string",
        "minLength": 1,
        "description": "Any case of: red, blue",
    }


def test_a_hint_without_a_place_is_a_fault_of_ours():
    with pytest.raises(TypeError):
        ApiSchema()._schema_of(bytes)


def test_only_the_api_is_in_the_document_without_the_slash_at_the_end():
    kept = keep_only_api_paths_in_schema(
        [
            ("/v2/user/", "", "GET", None),
            ("/lab_report/v1/parser/job", "", "POST", None),
            ("/t/x/sandbox/users/", "", "GET", None),
        ]
    )

    assert [path for path, *_ in kept] == ["/v2/user", "/lab_report/v1/parser/job"]
