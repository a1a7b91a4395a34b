"""Import the labs, markers and expected results of production."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.states import Environment
from labs.models import ExpectedResult, Lab, Marker
from labs.operations.catalogue.catalogue_files import parse_lab_catalogue
from labs.operations.catalogue.reference_data import upsert_rows_by_id
from portal.lib.database.rows import fetch_rows
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from labs.operations.catalogue.catalogue_files import ParsedCatalogue

_FAULTS_SHOWN = 20
# Two imports at once would both make a row that neither finds.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('labs catalogue'))"
# Above all ids that ship; see migration lab_environment.
_IDS = "SELECT nextval('labs_production_id') FROM generate_series(1, %(number)s)"


class ImportedCatalogue(NamedTuple):
    """How many labs, markers and expected results an import stored."""

    labs: int
    markers: int
    results: int


def import_lab_catalogue(*, files: Mapping[str, Iterable[str]]) -> ImportedCatalogue:
    """Import production's labs from CSV lines by file; nothing if any has an error.

    A lab is known by its slug, a marker by lab and provider_id, a result by marker and
    provider_id; each keeps its id when it is imported again. What the files lack stays,
    since orders may name it. Raises: lab_catalogue_invalid (the lines and their
    faults). Source: Contract D23; Ours: the format of the files that ship.
    """
    parsed = parse_lab_catalogue(files)
    if not (parsed.labs or parsed.faults):
        parsed.faults.append(_("labs.csv has no labs."))
    if parsed.faults:
        raise DomainError("lab_catalogue_invalid", _describe_faults(parsed.faults))
    with transaction.atomic():
        fetch_rows(_LOCK, {})
        _assign_ids(parsed)
        upsert_rows_by_id(Lab, parsed.labs)
        upsert_rows_by_id(Marker, parsed.markers)
        upsert_rows_by_id(ExpectedResult, parsed.results)
    return ImportedCatalogue(len(parsed.labs), len(parsed.markers), len(parsed.results))


def _assign_ids(parsed: ParsedCatalogue) -> None:
    """Give each row its stored id, or a new one, in place of that of the file."""
    labs = Lab.objects.filter(environment=Environment.PRODUCTION)
    for lab in parsed.labs:
        lab.environment = Environment.PRODUCTION
    _assign(parsed.labs, dict(labs.values_list("slug", "pk")), ["slug"])
    for marker in parsed.markers:
        marker.lab_id = marker.lab.pk
    markers = Marker.objects.filter(lab__in=parsed.labs)
    _assign(
        parsed.markers,
        _by_key(markers.values_list("lab_id", "provider_id", "pk")),
        ["lab_id", "provider_id"],
    )
    for result in parsed.results:
        result.marker_id = result.marker.pk
    results = ExpectedResult.objects.filter(marker__in=parsed.markers)
    _assign(
        parsed.results,
        _by_key(results.values_list("marker_id", "provider_id", "pk")),
        ["marker_id", "provider_id"],
    )


def _assign(
    entries: Sequence[Any], known: Mapping[Any, int], columns: Sequence[str]
) -> None:
    keys = [tuple(getattr(entry, column) for column in columns) for entry in entries]
    keys = [key if len(columns) > 1 else key[0] for key in keys]
    missing = sum(key not in known for key in keys)
    fresh = (number for (number,) in fetch_rows(_IDS, {"number": missing}))
    for entry, key in zip(entries, keys, strict=True):
        entry.pk = known[key] if key in known else next(fresh)


def _by_key(found: Iterable[tuple[int, str, int]]) -> dict[tuple[int, str], int]:
    return {(owner, code): pk for owner, code, pk in found}


def _describe_faults(faults: Sequence[str]) -> str:
    shown = list(islice(faults, _FAULTS_SHOWN))
    if len(faults) > len(shown):
        shown.append(_("And %(number)d more.") % {"number": len(faults) - len(shown)})
    return " ".join(shown)
