"""OperationOutcome: how errors are answered below /fhir (FHIR R4, 2.29)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FHIR_PREFIX = "/fhir/"
FHIR_MEDIA_TYPE = "application/fhir+json"
# FHIR's IssueType by status; another 4xx is `invalid`, a 5xx `exception`.
_TYPES = {
    401: "login",
    403: "forbidden",
    404: "not-found",
    405: "not-supported",
    406: "not-supported",
    409: "conflict",
    410: "deleted",
    413: "too-long",
    415: "not-supported",
    429: "throttled",
    503: "transient",
}


def build_operation_outcome(status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OperationOutcome of an error of contract 1.3.

    Its code is in `details.text`'s place as a coding; lines of a 422 are an issue each,
    with the place of the fault as its expression.
    """
    detail = body.get("detail")
    if isinstance(detail, list):
        return _build(
            [
                _build_issue(
                    "invalid",
                    line["type"],
                    line["msg"],
                    ".".join(map(str, line["loc"])),
                )
                for line in detail
            ]
        )
    fallback = "exception" if status >= 500 else "invalid"
    kind = _TYPES.get(status, fallback)
    return _build(
        [
            _build_issue(
                kind,
                str(body.get("code", "")),
                str(detail or ""),
                str(body.get("expression") or ""),
            )
        ]
    )


def build_warning(code: str, sentence: str, *, kind: str = "not-supported") -> Any:
    """Return an OperationOutcome beside a result, such as an ignored parameter."""
    return _build([_build_issue(kind, code, sentence, "", severity="warning")])


def build_missing_elements(code: str, missing: Iterable[tuple[str, str]]) -> Any:
    """Return the OperationOutcome of what lacks elements: (FHIRPath, sentence) each."""
    return _build(
        [_build_issue("required", code, sentence, path) for path, sentence in missing]
    )


def _build(issues: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceType": "OperationOutcome", "issue": issues}


def _build_issue(
    kind: str, code: str, sentence: str, place: str, *, severity: str = "error"
) -> dict[str, Any]:
    issue: dict[str, Any] = {"severity": severity, "code": kind}
    if code:
        issue["details"] = {"coding": [{"code": code}], "text": sentence}
    if sentence:
        issue["diagnostics"] = sentence
    if place:
        issue["expression"] = [place]
    return issue
