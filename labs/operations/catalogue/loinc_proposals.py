"""Propose LOINC codes for results of an own catalogue, and store confirmed ones.

A code counts from its confirmation on, which is an update of the catalogue like any
other: numbered, with its difference, and without effect on orders that were placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.declarations.hooks import LoincProposal, LoincQuestion, list_app_hooks
from labs.models import ExpectedResult, Lab
from labs.operations.catalogue.catalogue_export import (
    build_catalogue_entries,
    write_catalogue_file,
)
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
)
from labs.states.loinc import is_loinc_code
from portal.lib.database.sorting import build_order
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import CatalogueUpdate
    from portal.lib.actor import Actor


@dataclass(frozen=True, slots=True)
class ResultWithoutLoinc:
    """An expected result without a code, with the codes that may fit, best first."""

    result: ExpectedResult
    proposals: list[LoincProposal]


def list_results_without_loinc(
    *, owner: Tenant, order_by: str = ""
) -> QuerySet[ExpectedResult]:
    """Return results of a tenant's own labs that have no LOINC code, by lab and name.

    Those of retired markers are left out. `order_by` is the path to sort all by, with
    a minus for downwards.
    """
    rows = ExpectedResult.objects.filter(
        marker__lab__owner=owner, marker__retired_at=None, loinc_code=""
    )
    asked = (build_order(order_by),) if order_by else ()
    return rows.select_related("marker__lab").order_by(
        *asked, "marker__lab__slug", "name", "pk"
    )


def propose_loinc_of_result(result: ExpectedResult) -> ResultWithoutLoinc:
    """Return a result with proposals of the reader's matcher; its marker is loaded."""
    marker = result.marker
    question = LoincQuestion(
        name=result.name,
        unit=result.unit,
        panel="" if marker.name == result.name else marker.name,
        sample_type=marker.sample_type,
    )
    proposals = [
        proposal
        for app in list_app_hooks()
        for propose in app.loinc_proposers
        for proposal in propose(question)
    ]
    return ResultWithoutLoinc(result, proposals)


@transaction.atomic
def confirm_loinc_codes(
    *, owner: Tenant, actor: Actor, codes: Mapping[int, str]
) -> CatalogueUpdate:
    """Store LOINC codes that a person confirmed, by the ids of results.

    One numbered update; a result that has a code by now keeps it. Raises:
    loinc_code_invalid (a wrong check digit); result_not_found (404, of another's labs
    too); no_loinc_codes.
    """
    if not codes:
        raise DomainError("no_loinc_codes", _("Choose at least one LOINC code."))
    for code in codes.values():
        if not is_loinc_code(code):
            raise DomainError(
                "loinc_code_invalid",
                _("%(code)s is not a LOINC code: its check digit is wrong.")
                % {"code": code},
            )
    found = list_results_without_loinc(owner=owner).filter(pk__in=list(codes))
    results = {result.pk: result for result in found}
    if missing := codes.keys() - results.keys():
        known = ExpectedResult.objects.filter(
            pk__in=missing, marker__lab__owner=owner
        ).count()
        if known < len(missing):
            raise NotFound("result_not_found", _("Result not found."))
        raise DomainError(
            "loinc_code_confirmed",
            _("Some of these results have a LOINC code by now. Reload the page."),
        )
    chosen = {_key_of(one): (codes[one.pk], one) for one in results.values()}
    markers = {(lab, marker) for lab, marker, _code in chosen}
    entries = build_catalogue_entries(
        labs=Lab.objects.filter(pk__in={one.marker.lab_id for one in results.values()})
    )
    rows = [
        {**entry, "loinc_code": code, "loinc_name": _find_loinc_name(result, code)}
        for entry in entries["expected_results"]
        if (key := (entry["lab"], entry["marker"], entry["provider_id"])) in chosen
        for code, result in (chosen[key],)
    ]
    contents = {
        "questions": entries["questions"],
        "markers": [
            entry
            for entry in entries["markers"]
            if (entry["lab"], entry["provider_id"]) in markers
        ],
        "expected_results": rows,
    }
    draft = check_catalogue_update(
        contents={
            name: write_catalogue_file(name, part) for name, part in contents.items()
        },
        actor=actor,
        owner=owner,
    )
    return apply_catalogue_update(update_id=draft.pk, actor=actor, owner=owner)


def _key_of(result: ExpectedResult) -> tuple[str, str, str]:
    marker = result.marker
    return marker.lab.slug, marker.provider_id, result.provider_id


def _find_loinc_name(result: ExpectedResult, code: str) -> str:
    """Return the official name of a proposed code, nothing for one that was typed."""
    proposals = propose_loinc_of_result(result).proposals
    return next((each.name for each in proposals if each.code == code), "")
