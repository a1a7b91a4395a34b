"""Read the schemas of the API document: fields, types, and an example of each answer.

Examples are made by the name of a field, else by its schema; they are of nobody.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portal.lib.api.errors import CONTRACT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPONENT = "#/components/schemas/"
_DEEPEST = 6
_DEEPEST_EXAMPLE = 12
EXAMPLE_ID = "0b5ad4a5-6d62-4a0d-8d1e-2b6d2f6a9c11"
_MOMENT = "2026-11-24T14:05:00+00:00"
_KNOWN_VALUES = re.compile(r"(?:Any case of|Known values|One of):? ([^.;]+)")
# Values of examples by name of the field; `parent.name`, of the schema or the field
# that it is in, precedes `name`. All are of one fictional user and fit together. Only
# a value that fits the schema of its field counts.
VALUES_BY_NAME: dict[str, Any] = json.loads(
    Path(__file__).with_name("example_values.json").read_text()
)
_FORMS = {
    "uuid": EXAMPLE_ID,
    "date": "2026-11-24",
    "date-time": _MOMENT,
    "uri": "https://receiver.example/assay",
    "email": "ada@assay.example",
    "binary": "(file)",
}
# Which texts a format takes.
_TEXTS = {
    "": re.compile(r""),
    "uri": re.compile(r"https?://"),
    "email": re.compile(r"\S+@\S+$"),
    "date": re.compile(r"\d{4}-\d\d-\d\d$"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\S+[+-]\d\d:\d\d$"),
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A parameter or field: `name` with its place, such as `address.zip`."""

    name: str
    type: str
    is_required: bool
    note: str


@dataclass(frozen=True, slots=True)
class Example:
    """An example of an answer; `text` is JSON, empty for an empty body or a file."""

    status: int
    title: str
    text: str
    note: str = ""
    is_plain: bool = False  # a sentence and a code

    @property
    def is_refusal(self) -> bool:
        return self.status >= HTTPStatus.BAD_REQUEST


class SchemaReader:
    """Reads schemas of one document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._schemas = document["components"]["schemas"]

    def parameters(self, described: Any, place: str) -> tuple[Attribute, ...]:
        return tuple(
            Attribute(
                each["name"],
                self._type(each["schema"]),
                each.get("required", False),
                each.get("description") or each["schema"].get("description", ""),
            )
            for each in described
            if each["in"] == place
        )

    def attributes(
        self, schema: Any, prefix: str = "", depth: int = 0
    ) -> Iterator[Attribute]:
        """Yield the fields of a body, those of inner objects after their own."""
        schema = self._follow(schema)
        if "items" in schema:
            schema = self._follow(schema["items"])
        if depth > _DEEPEST:
            return
        for name, inner in schema.get("properties", {}).items():
            followed = self._follow(inner)
            yield Attribute(
                prefix + name,
                self._type(inner),
                name in schema.get("required", ()),
                followed.get("description", ""),
            )
            mark = "[]." if "items" in followed else "."
            yield from self.attributes(inner, f"{prefix}{name}{mark}", depth + 1)

    def unfit(self, parameters: Any, schema: Any) -> dict[str, Any]:
        """Return a line of a 422 at the first place that has to be given."""
        for name in self._follow(schema).get("required", ()) if schema else ():
            return _fault("body", name, "missing", "This field is required.")
        for each in parameters:
            if each.get("required") and each["in"] == "query":
                name = each["name"]
                return _fault("query", name, "missing", "This field is required.")
        for each in parameters:
            name, form = each["name"], each["schema"].get("format", "")
            kind = f"{form or each['schema'].get('type', 'string')}_parsing"
            if kind in CONTRACT_TYPES:
                return _fault(each["in"], name, kind, f"Enter a valid {name}.")
        return _fault("body", "", "json_invalid", "The body is not valid JSON.")

    def answer(self, status: int, response: Any, unfit: dict[str, Any]) -> Example:
        title = f"{status} {HTTPStatus(status).phrase}"
        contents: dict[str, dict[str, Any]] = response.get("content", {})
        media = next(iter(contents), "")
        content = contents.get(media, {})
        if not media:
            return Example(status, title, "", "No body")
        if media != "application/json":
            return Example(status, title, "", media)
        match status:
            case HTTPStatus.UNPROCESSABLE_ENTITY:
                value: Any = {"detail": [unfit]}
            case HTTPStatus.UNAUTHORIZED:
                value = {
                    "detail": "Send a valid key in the x-service-api-key header.",
                    "code": "unauthenticated",
                }
            case HTTPStatus.NOT_FOUND:
                value = {"detail": "Not found.", "code": "not_found"}
            case _:
                value = self.example(content["schema"])
        is_plain = content["schema"].get("$ref", "").endswith("/Refusal")
        return Example(status, title, json.dumps(value, indent=2), is_plain=is_plain)

    def example(
        self,
        schema: Any,
        name: str = "",
        *,
        within: tuple[str, ...] = (),
        required: bool = False,
        depth: int = 0,
    ) -> Any:
        """Return a value of a schema; with `required` its required fields alone.

        `within` names what the field is in: its schema, and the object or list.
        """
        component = _name_component(schema)
        schema = self._follow(schema)
        kind = self._kinds(schema)
        for known in (*(f"{each}.{name}" for each in within), name):
            if known in VALUES_BY_NAME and _fits(VALUES_BY_NAME[known], schema, kind):
                return VALUES_BY_NAME[known]
        if depth > _DEEPEST_EXAMPLE:
            return None
        inner: dict[str, Any] = {"required": required, "depth": depth + 1}
        if "object" in kind:
            names: dict[str, Any] = schema.get("properties", {})
            kept = schema.get("required", names) if required else names
            parents = (component, name or next(reversed(within), ""))
            return {
                each: self.example(names[each], each, within=parents, **inner)
                for each in names
                if each in kept
            }
        if "array" in kind:
            items = schema.get("items", {})
            return [self.example(items, name, within=within, **inner)]
        return self._plain(schema, kind)

    def _plain(self, schema: Any, kind: list[str]) -> Any:
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "integer" in kind or "number" in kind:
            return schema.get("minimum", 1)
        if "boolean" in kind:
            return True
        if "string" not in kind:
            return None
        if schema.get("format") in _FORMS:
            return _FORMS[schema["format"]]
        if words := _KNOWN_VALUES.search(schema.get("description", "")):
            return words[1].split(", ")[0]
        return None if "null" in kind else "text"

    def _type(self, schema: Any) -> str:
        schema = self._follow(schema)
        kinds = self._kinds(schema)
        if "array" in kinds:
            return f"list of {self._type(schema.get('items', {}))}"
        form = {"uuid": "UUID", "date": "date", "date-time": "date-time"}.get(
            schema.get("format", "")
        )
        return form or " or ".join(each for each in kinds if each != "null") or "any"

    def _kinds(self, schema: Any) -> list[str]:
        kinds = schema.get("type", [])
        return [kinds] if isinstance(kinds, str) else list(kinds)

    def _follow(self, schema: Any) -> Any:
        while True:
            if "$ref" in schema:
                target = self._schemas[schema["$ref"].removeprefix(_COMPONENT)]
                schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
            elif "allOf" in schema:
                rest = {k: v for k, v in schema.items() if k != "allOf"}
                schema = {**schema["allOf"][0], **rest}
            elif "anyOf" in schema or "oneOf" in schema:
                options = schema.get("anyOf") or schema["oneOf"]
                schema = next(
                    (each for each in options if each.get("type") != "null"), {}
                )
            else:
                return schema


def _fault(place: str, name: str, kind: str, message: str) -> dict[str, Any]:
    loc = [place, name] if name else [place]
    return {"loc": loc, "msg": message, "type": kind}


def _name_component(schema: Any) -> str:
    """Return the name of the schema that is referred to, also as one of several."""
    options = (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))
    named = (each["$ref"] for each in options if "$ref" in each)
    return str(next(named, "")).removeprefix(_COMPONENT)


def _fits(value: Any, schema: Any, kind: list[str]) -> bool:
    """Return whether an example is one of a schema's values."""
    if value not in schema.get("enum", [schema.get("const", value)]):
        return False
    match value:
        case None:
            return "null" in kind
        case str():
            texts = _TEXTS.get(schema.get("format", ""))
            return "string" in kind and texts is not None and bool(texts.match(value))
        case int():
            return "number" in kind or "integer" in kind
    return "number" in kind
