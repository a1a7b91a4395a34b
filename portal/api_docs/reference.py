"""The API reference: what a page shows of an operation, read off the document.

Everything comes from the document that clients are made of and from the source that
refuses: fields, examples, scopes, events and error codes. Examples are made by the name
of a field, else by its schema; they are of nobody.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.urls import Resolver404, resolve

from portal.api_docs.document import load_openapi_document
from portal.api_docs.error_codes import ErrorCode, list_error_codes_of_view
from portal.api_docs.operations import TASKS, Task, find_task_of_path, list_operations
from portal.lib.api.errors import CONTRACT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPONENT = "#/components/schemas/"
_DEEPEST = 6
_ID = "0b5ad4a5-6d62-4a0d-8d1e-2b6d2f6a9c11"
_MOMENT = "2026-11-24T14:05:00+00:00"
_KNOWN_VALUES = re.compile(r"(?:Any case of|Known values|One of):? ([^.;]+)")
_BY_NAME: dict[str, Any] = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "email": "ada@assay.example",
    "phone_number": "+15550101",
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "zip_code": "85004",
    "country": "US",
    "npi": "1234567893",
    "client_user_id": "patient-20418",
    "provider": "oura",
    "slug": "oura",
    "start_date": "2026-11-01",
    "end_date": "2026-11-24",
    "fallback_time_zone": "America/Phoenix",
    "time_zone": "America/Phoenix",
    "timezone_offset": -25200,
    "unit": "bpm",
    "value": 62,
    "message": "order created",
    "resource": "heartrate",
}
_FORMS = {
    "uuid": _ID,
    "date": "2026-11-24",
    "date-time": _MOMENT,
    "uri": "https://receiver.example/assay",
    "email": "ada@assay.example",
    "binary": "(file)",
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


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as its page shows it."""

    slug: str
    method: str
    path: str
    summary: str
    description: str
    task: Task
    is_deprecated: bool
    scopes: tuple[str, ...]
    key_header: str
    path_parameters: tuple[Attribute, ...]
    query: tuple[Attribute, ...]
    body: tuple[Attribute, ...]
    body_example: str
    body_type: str
    answers: tuple[Example, ...]
    events: tuple[str, ...]

    @property
    def example_path(self) -> str:
        """Return the path with its parameters as shell variables."""
        return re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", self.path)

    @property
    def required_query(self) -> str:
        """Return the query string of an example: what is required of it."""
        values = [
            f"{each.name}={_BY_NAME.get(each.name, 'value')}"
            for each in self.query
            if each.is_required
        ]
        return "?" + "&".join(values) if values else ""

    @property
    def calls(self) -> tuple[tuple[str, str], ...]:
        """Return the call by name of the language: curl, Python, JavaScript."""
        return (
            ("curl", self._curl()),
            ("Python", self._python()),
            ("JavaScript", self._javascript()),
        )

    def _curl(self) -> str:
        variable = "$ASSAY_MANAGEMENT_KEY" if self._is_managed else "$ASSAY_KEY"
        lines = [
            f'curl -X {self.method} "$ASSAY_URL{self.example_path}'
            f'{self.required_query}"',
            f'  -H "{self.key_header}: {variable}"',
        ]
        if self.body_type == "multipart/form-data":
            lines += ['  -F "file=@report.pdf"', f'  -F "user_id={_ID}"']
        elif self.body_example:
            lines += [
                '  -H "content-type: application/json"',
                f"  -d '{self.body_example}'",
            ]
        return " \\\n".join(lines)

    def _python(self) -> str:
        path = re.sub(r"\$(\w+)", lambda f: f"{{{f[1].lower()}}}", self.example_path)
        prefix = "f" if "{" in path else ""
        arguments = [f'{prefix}"{path}{self.required_query}"']
        if self.body_type == "multipart/form-data":
            arguments += ['files={"file": open("report.pdf", "rb")}']
            arguments += [f'data={{"user_id": "{_ID}"}}']
        elif self.body_example:
            arguments += [f"json={_as_python(self.body_example)}"]
        inner = ",\n    ".join(arguments)
        key = "ASSAY_MANAGEMENT_KEY" if self._is_managed else "ASSAY_KEY"
        return (
            "import os\n\nimport httpx\n\n"
            "api = httpx.Client(\n"
            '    base_url=os.environ["ASSAY_URL"],\n'
            f'    headers={{"{self.key_header}": os.environ["{key}"]}},\n'
            ")\n"
            f"answer = api.{self.method.lower()}(\n    {inner},\n)\n"
            "answer.raise_for_status()"
        )

    def _javascript(self) -> str:
        path = re.sub(
            r"\$(\w+)", lambda f: f"${{{_as_camel(f[1])}}}", self.example_path
        )
        key = "ASSAY_MANAGEMENT_KEY" if self._is_managed else "ASSAY_KEY"
        headers = [f'    "{self.key_header}": process.env.{key},']
        body = ""
        if self.body_type == "multipart/form-data":
            body = "  body: form, // a FormData with file and user_id\n"
        elif self.body_example:
            headers.append('    "content-type": "application/json",')
            shown = self.body_example.replace("\n", "\n  ")
            body = f"  body: JSON.stringify({shown}),\n"
        head = "\n".join(headers)
        return (
            "const answer = await fetch(\n"
            f"  `${{process.env.ASSAY_URL}}{path}{self.required_query}`,\n"
            "  {\n"
            f'  method: "{self.method}",\n'
            f"  headers: {{\n{head}\n  }},\n{body}"
            "  },\n);\n"
            "if (!answer.ok) throw new Error(await answer.text());"
        )

    @property
    def _is_managed(self) -> bool:
        return self.key_header == "x-management-key"


@cache
def list_reference_operations() -> dict[str, Operation]:
    """Return all operations by slug, in the order of tasks and then of paths.

    Raises: Unavailable while another thread makes the document.
    """
    document = load_openapi_document()
    found = [
        _read_operation(document, path, method, operation)
        for path, method, operation in list_operations(document)
    ]
    order = {task.slug: place for place, task in enumerate(TASKS)}
    found.sort(key=lambda each: order[each.task.slug])
    return {each.slug: each for each in found}


def search_operations(query: str) -> list[tuple[Task, list[Operation]]]:
    """Return the operations that have all words of a query, by task; "": all."""
    words = query.lower().split()
    by_task: dict[str, tuple[Task, list[Operation]]] = {}
    for each in list_reference_operations().values():
        text = " ".join(
            (each.method, each.path, each.summary, each.description, each.task.name)
        ).lower()
        if all(word in text for word in words):
            by_task.setdefault(each.task.slug, (each.task, []))[1].append(each)
    return list(by_task.values())


@cache
def list_codes_of_operation(slug: str) -> tuple[ErrorCode, ...]:
    """Return the error codes that the view of an operation can refuse with."""
    operation = list_reference_operations()[slug]
    path = re.sub(r"\{\w+\}", _ID, operation.path)
    try:
        view = resolve(path).func
    except Resolver404:
        return ()
    kind: Any = getattr(view, "cls", None) or getattr(view, "view_class", None)
    if kind is None:
        return ()
    named = kind.__qualname__.partition(".<locals>")[0]
    codes = list_error_codes_of_view(kind.__module__, named, operation.method.lower())
    statuses = {each.status for each in operation.answers}
    return tuple(each for each in codes if statuses & set(each.statuses))


def list_answers_of_operation(slug: str) -> tuple[Example, ...]:
    """Return an example of each answer; refusals by a code that the call can make."""
    operation = list_reference_operations()[slug]
    by_status = {
        status: code
        for code in reversed(list_codes_of_operation(slug))
        for status in code.statuses
    }
    return tuple(
        replace(each, text=_write_refusal(by_status[each.status]))
        if each.is_refusal and each.is_plain and each.status in by_status
        else each
        for each in operation.answers
    )


def _write_refusal(code: ErrorCode) -> str:
    detail = code.sentences[0] if code.sentences else ""
    return json.dumps(
        {"detail": detail, "code": code.code}, indent=2, ensure_ascii=False
    )


def _read_operation(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> Operation:
    reader = _Reader(document)
    (scheme,) = operation["security"][0]
    parameters = operation.get("parameters", ())
    content = operation.get("requestBody", {}).get("content", {})
    body_type = next(iter(content), "")
    schema = content.get(body_type, {}).get("schema", {})
    example = reader.example(schema, required=True) if schema else None
    unfit = reader.unfit(parameters, schema)
    task = find_task_of_path(path)
    if task is None:
        raise LookupError(path)
    return Operation(
        slug=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        task=task,
        is_deprecated=operation.get("deprecated", False),
        scopes=tuple(operation.get("x-scopes", ())),
        key_header=document["components"]["securitySchemes"][scheme]["name"],
        path_parameters=reader.parameters(parameters, "path"),
        query=reader.parameters(parameters, "query"),
        body=tuple(reader.attributes(schema)) if schema else (),
        body_example=json.dumps(example, indent=2) if example else "",
        body_type=body_type,
        answers=tuple(
            reader.answer(int(status), told, unfit)
            for status, told in operation["responses"].items()
        ),
        events=tuple(operation.get("x-events", ())),
    )


class _Reader:
    """Reads schemas of one document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._schemas = document["components"]["schemas"]

    def parameters(self, told: Any, place: str) -> tuple[Attribute, ...]:
        return tuple(
            Attribute(
                each["name"],
                self._type(each["schema"]),
                each.get("required", False),
                each.get("description") or each["schema"].get("description", ""),
            )
            for each in told
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

    def answer(self, status: int, told: Any, unfit: dict[str, Any]) -> Example:
        title = f"{status} {HTTPStatus(status).phrase}"
        contents: dict[str, dict[str, Any]] = told.get("content", {})
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
        self, schema: Any, name: str = "", *, required: bool = False, depth: int = 0
    ) -> Any:
        """Return a value of a schema; with `required` its required fields alone."""
        schema = self._follow(schema)
        kind = self._kinds(schema)
        if name in _BY_NAME and (isinstance(_BY_NAME[name], str) == ("string" in kind)):
            return _BY_NAME[name]
        if depth > _DEEPEST:
            return None
        if "object" in kind:
            names: dict[str, Any] = schema.get("properties", {})
            kept = schema.get("required", names) if required else names
            return {
                each: self.example(
                    names[each], each, required=required, depth=depth + 1
                )
                for each in names
                if each in kept
            }
        if "array" in kind:
            item = self.example(
                schema.get("items", {}), name, required=required, depth=depth + 1
            )
            return [item]
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
        words = _KNOWN_VALUES.search(schema.get("description", ""))
        return words[1].split(", ")[0] if words else "text"

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


def _as_python(text: str) -> str:
    shown = text.replace("\n", "\n    ")
    for theirs, ours in (("true", "True"), ("false", "False"), ("null", "None")):
        shown = re.sub(rf"(: |\[\s*){theirs}\b", rf"\g<1>{ours}", shown)
    return shown


def _as_camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(word.title() for word in rest)
