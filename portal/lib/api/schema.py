"""The OpenAPI document: which paths it holds, and how views say what they answer.

Components come from typed shapes (TypedDicts), so that the builder of an answer, the
document and the contract tests share one definition.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from uuid import UUID

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema

from portal.lib.api.fields import Inputs
from portal.lib.api.operation_outcome import FHIR_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Endpoint = tuple[str, str, str, Any]
F = TypeVar("F", bound="Callable[..., Any]")
# An answer of `describe_api_operation` that is a file.
PDF = "application/pdf"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
    Any: {},
    None: {"type": "null"},
    type(None): {"type": "null"},
}


class Refusal(TypedDict):
    """Any 4xx but 422: a sentence for people, and a stable code."""

    detail: str
    code: str


class InvalidLine(TypedDict):
    """One fault of a request: where, a sentence, and what kind."""

    loc: list[str | int]
    msg: str
    type: str


class InvalidRequest(TypedDict):
    """422: a line for each fault."""

    detail: list[InvalidLine]


@dataclass(frozen=True, slots=True, eq=False)
class JsonShape:
    """A component given as JSON Schema, for shapes that a registry drives.

    Where the schema holds another shape the document refers to that.
    """

    name: str
    schema: Mapping[str, Any]


def describe_api_operation(
    operation_id: str,
    summary: str,
    *,
    answer: Any = None,
    status: int = 200,
    body: type[Inputs] | Mapping[str, Any] | None = None,
    query: type[Inputs] | None = None,
    refuses: Iterable[int] | Mapping[int, Any] = (),
) -> Callable[[F], F]:
    """Describe a view's method in the OpenAPI document.

    `answer` is a TypedDict, a list of one, a JsonShape, PDF, or None for an empty body.
    `body` is a class of inputs, or inputs or a JsonShape by media type. `refuses` names
    statuses besides 401 and 422, a mapping those with a shape of their own.
    """
    shapes: dict[int, Any] = (
        dict(refuses)
        if isinstance(refuses, Mapping)
        else dict.fromkeys(refuses, Refusal)
    )
    done = {(status, PDF): OpenApiTypes.BINARY} if answer is PDF else {status: answer}
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[query] if query else [],
        request=body,
        responses={**done, 401: Refusal, **shapes, 422: InvalidRequest},
    )


class ApiSchema(AutoSchema):
    """Reads answers given as type hints; a PATCH of `whole` inputs needs its keys."""

    def get_description(self) -> str:  # type: ignore[override]  # as the library's own
        method = getattr(self.view, self.method.lower())
        return inspect.getdoc(method) or ""

    # Private hooks: the public ones are taken over by extend_schema.
    def _get_response_for_code(
        self, serializer: Any, status_code: Any, *args: Any, **options: Any
    ) -> Any:
        if is_typeddict(serializer) or get_origin(serializer) is not None:
            serializer = self._schema_of(serializer)
        elif isinstance(serializer, JsonShape):
            serializer = self._resolve(serializer)
        return super()._get_response_for_code(  # type: ignore[no-untyped-call]  # the library's
            serializer, status_code, *args, **options
        )

    def _get_request_for_media_type(
        self, serializer: Any, direction: Any = "request"
    ) -> Any:
        if isinstance(serializer, JsonShape):
            return self._resolve(serializer), True
        is_inputs = inspect.isclass(serializer) and issubclass(serializer, Inputs)
        if is_inputs and self.method == "PATCH" and serializer.whole:
            return self.resolve_serializer(serializer, direction).ref, True
        return super()._get_request_for_media_type(  # type: ignore[no-untyped-call]  # the library's
            serializer, direction
        )

    def _schema_of(self, hint: Any) -> dict[str, Any]:
        origin, inner = get_origin(hint), get_args(hint)
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        if is_typeddict(hint):
            return self._component_of(hint)
        if origin is list:
            return {"type": "array", "items": self._schema_of(inner[0])}
        if origin is dict:
            values = self._schema_of(inner[1])
            return {"type": "object", "additionalProperties": values}
        if origin is Literal:
            return {**self._schema_of(type(inner[0])), "enum": list(inner)}
        if origin is Annotated:
            note = (
                "Known values: " + ", ".join(inner[1].values) + ". More may be added."
            )
            return {**self._schema_of(inner[0]), "description": note}
        if origin in (Union, types.UnionType):
            schemas = [self._schema_of(each) for each in inner]
            if all(set(schema) == {"type"} for schema in schemas):
                return {"type": [schema["type"] for schema in schemas]}
            return {"anyOf": schemas}
        raise TypeError(f"{hint!r} has no place in the document")

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, JsonShape):
            component = _component(value.name, value)
            if component not in self.registry:
                component.schema = {"type": "object"}
                self.registry.register(component)
                component.schema = self._resolve(dict(value.schema))
            return component.ref
        if isinstance(value, dict):
            return {key: self._resolve(inner) for key, inner in value.items()}
        return value

    def _component_of(self, shape: Any) -> dict[str, Any]:
        component = _component(shape.__name__, shape)
        if component not in self.registry:
            # Entered before its parts, which may name it again.
            component.schema = {"type": "object"}
            self.registry.register(component)
            hints = get_type_hints(shape, include_extras=True)
            component.schema |= {
                "description": inspect.getdoc(shape),
                "properties": {
                    name: self._schema_of(hint) for name, hint in hints.items()
                },
                "required": [name for name in hints if name in shape.__required_keys__],
            }
        ref: dict[str, Any] = component.ref
        return ref


def _component(name: str, source: object) -> ResolvedComponent:
    return ResolvedComponent(  # type: ignore[no-untyped-call]  # the library's
        name=name, type=ResolvedComponent.SCHEMA, object=source
    )


class OpenEnumInDocument(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """An input enumeration: its values, any case taken."""

    target_class = "portal.lib.api.fields.OpenEnum"

    def map_serializer_field(self, auto_schema: Any, direction: str) -> Any:
        values = [str(value) for value in self.target.values]
        return {"type": "string", "description": "Any case of: " + ", ".join(values)}


def keep_only_api_paths_in_schema(endpoints: list[Endpoint]) -> list[Endpoint]:
    """Keep the API proper, each path in its form without the slash at the end.

    FHIR describes itself, in its CapabilityStatement.
    """
    return [
        (path.rstrip("/"), regex, method, view)
        for path, regex, method, view in endpoints
        if path.startswith(settings.API_PREFIXES) and not path.startswith(FHIR_PREFIX)
    ]
