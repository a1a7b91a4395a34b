"""The API reference: what a page shows of an operation, read off the document.

Everything comes from the document that clients are made of and from the source that
refuses: fields, examples, scopes, events and error codes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.urls import Resolver404, resolve

from portal.api_docs.document import load_openapi_document
from portal.api_docs.error_codes import ErrorCode, list_error_codes_of_view
from portal.api_docs.operations import TASKS, Task, find_task_of_path, list_operations
from portal.api_docs.schemas import (
    EXAMPLE_ID,
    VALUES_BY_NAME,
    Attribute,
    Example,
    SchemaReader,
)


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
            f"{each.name}={VALUES_BY_NAME.get(each.name, 'value')}"
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
            lines += ['  -F "file=@report.pdf"', f'  -F "user_id={EXAMPLE_ID}"']
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
            arguments += [f'data={{"user_id": "{EXAMPLE_ID}"}}']
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
    path = re.sub(r"\{\w+\}", EXAMPLE_ID, operation.path)
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
    reader = SchemaReader(document)
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


def _as_python(text: str) -> str:
    shown = text.replace("\n", "\n    ")
    for theirs, ours in (("true", "True"), ("false", "False"), ("null", "None")):
        shown = re.sub(rf"(: |\[\s*){theirs}\b", rf"\g<1>{ours}", shown)
    return shown


def _as_camel(name: str) -> str:
    first, *rest = name.lower().split("_")
    return first + "".join(word.title() for word in rest)
