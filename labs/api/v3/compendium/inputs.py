"""Request bodies about the compendium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from labs.api.v3.catalogue.inputs import CODE_MAX_LENGTH, MARKERS_MAX
from labs.states.compendium import SearchMode
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import Bool, Inputs, Int, OpenEnum, Str, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

_LABS_MAX = 50
_LIMIT_MAX = 50
_TEXT_MAX_LENGTH = 200


class CompendiumSearchInputs(Inputs):
    """A search; `canonical` finds sets of results, `crosswalk` also tests by lab."""

    mode = OpenEnum(SearchMode)
    query = Str(required=False, max_length=_TEXT_MAX_LENGTH)
    cpt_codes = serializers.ListField(
        child=Str(max_length=CODE_MAX_LENGTH), required=False, max_length=_LABS_MAX
    )
    loinc_set_hash = Str(required=False, max_length=64)
    labs = serializers.ListField(
        child=Str(max_length=CODE_MAX_LENGTH), required=False, max_length=_LABS_MAX
    )
    include_related = Bool(required=False)
    limit = Int(required=False, min_value=1, max_value=_LIMIT_MAX)


class CompendiumConvertInputs(Inputs):
    """Tests to convert to another lab: those of a panel, or codes of any lab."""

    target_lab = Str(max_length=CODE_MAX_LENGTH)
    lab_test_id = Uuid(required=False)
    provider_ids = serializers.ListField(
        child=Str(max_length=CODE_MAX_LENGTH), required=False, max_length=MARKERS_MAX
    )
    limit = Int(required=False, min_value=1, max_value=_LIMIT_MAX)


class OrderableTestsInputs(Inputs):
    """Codes of any lab whose tests at another are wanted."""

    provider_ids = serializers.ListField(
        child=Str(max_length=CODE_MAX_LENGTH),
        allow_empty=False,
        max_length=MARKERS_MAX,
    )
    target_lab = Str(max_length=CODE_MAX_LENGTH)
    per_provider_limit = Int(required=False, min_value=1, max_value=_LIMIT_MAX)


def require_one_source(body: Mapping[str, Any]) -> None:
    """Refuse a conversion of both a panel and codes, or neither. Raises: 422."""
    by_panel, by_code = body.get("lab_test_id"), body.get("provider_ids")
    if bool(by_panel) == bool(by_code):
        raise _build_error(
            "lab_test_id",
            "Send either lab_test_id or provider_ids.",
            "value_error" if by_panel else "missing",
        )


def require_search_words(body: Mapping[str, Any]) -> None:
    """Refuse a search for nothing, or by CPT codes alone. Raises: 422."""
    if body.get("query", "").strip() or body.get("loinc_set_hash"):
        return
    if body.get("cpt_codes"):
        raise _build_error(
            "cpt_codes",
            "The catalog has no CPT codes. Send query or loinc_set_hash.",
            "value_error",
        )
    raise _build_error("query", "Send query or loinc_set_hash.", "missing")


def _build_error(field: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("body", field), message, kind)])
