"""Reference data of the sandbox: labs, markers, results, service centers and panels.

The files are labs/data/*.csv, in the order of their ids, which never change. Centers,
prices and the lab codes of markers are made up, so production never sees these rows: it
has those that import_catalogue brings in. LOINC codes and names are those of LOINC.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from accounts.models import Tenant
from accounts.states import Environment
from labs.models import ExpectedResult, Lab, Marker
from labs.operations.catalogue.catalogue_files import (
    ParsedCatalogue,
    parse_lab_catalogue,
)
from labs.operations.catalogue.catalogue_rows import (
    read_catalogue_folder,
    read_catalogue_rows,
)
from labs.operations.catalogue.service_centers import (
    parse_service_center_rows,
    upsert_service_centers,
)
from labs.states.catalogue import Generation, LabTestStatus
from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model

REFERENCE_FOLDER = Path(__file__).parents[2] / "data"


# One statement for any number of tenants: every new team pays for it.
_LAY_PANELS = b"""
WITH entry AS (
    SELECT * FROM jsonb_to_recordset(%s) AS entry(
        place int, slug text, lab_id int, name text, description text, method text,
        sample_type text, price numeric, fasting boolean,
        has_collection_instructions boolean, marker_ids int[])
), laid AS (
    INSERT INTO labs_labtest (
        id, tenant_id, lab_id, name, slug, reference_slug, description, method,
        sample_type, price, fasting, has_collection_instructions, status,
        status_before_archive, generation, created_at, updated_at)
    SELECT gen_random_uuid(), tenant_id, lab_id, name, slug, slug, description, method,
        sample_type, price, fasting, has_collection_instructions, %s, '', %s, at, at
    FROM entry, unnest(%s::bigint[]) AS tenant_id,
        LATERAL (SELECT %s::timestamptz + place * interval '1 microsecond') AS made(at)
    ON CONFLICT DO NOTHING
    RETURNING id, reference_slug
)
INSERT INTO labs_labtest_markers (labtest_id, marker_id)
SELECT laid.id, unnest(entry.marker_ids)
FROM laid JOIN entry ON entry.slug = laid.reference_slug
"""


def install_reference_data() -> None:
    """Install labs, markers, results, centers and missing panels of tenants.

    Laying again changes what the files changed and nothing else; what left the files
    stays, since orders may name it. Source: Ours (architecture 2.10).
    """
    with transaction.atomic():
        upsert_rows_by_id(Lab, read_reference_labs())
        upsert_rows_by_id(Marker, read_reference_markers())
        upsert_rows_by_id(ExpectedResult, read_reference_results())
        upsert_service_centers(
            parse_service_center_rows(
                entries=_read_csv_rows("service_centers"), labs=read_reference_labs()
            )
        )
        sandboxes = Tenant.objects.filter(environment=Environment.SANDBOX)
        install_reference_panels(list(sandboxes.order_by("pk")))


def install_reference_panels(tenants: Sequence[Tenant]) -> None:
    """Create the active reference panels that sandbox tenants lack.

    One that was renamed or archived is there and stays so. Production has none.
    """
    with rows.open_database_cursor() as opened:
        opened.execute(
            _LAY_PANELS,
            (
                Jsonb(_read_reference_panels()),
                LabTestStatus.ACTIVE.value,
                Generation.MANUAL.value,
                [tenant.pk for tenant in tenants if tenant.is_sandbox],
                timezone.now(),
            ),
        )


def read_reference_labs() -> Sequence[Lab]:
    """Return the built-in labs (contract 6.1)."""
    return _read_catalogue().labs


def read_reference_markers() -> Sequence[Marker]:
    """Return the built-in markers with their questions (contract 6.2)."""
    return _read_catalogue().markers


def read_reference_results() -> Sequence[ExpectedResult]:
    """Return the expected results of the built-in markers."""
    return _read_catalogue().results


@cache
def _read_catalogue() -> ParsedCatalogue:
    rows = read_catalogue_rows(read_catalogue_folder(REFERENCE_FOLDER))
    found = parse_lab_catalogue(rows, labs={})
    if found.faults:
        raise ValueError(str(found.faults[0]))
    return found


@cache
def _read_reference_panels() -> list[dict[str, Any]]:
    labs = {lab.slug: lab.id for lab in read_reference_labs()}
    numbers = {(m.lab_id, m.provider_id): m.id for m in read_reference_markers()}
    return [
        {
            **entry,
            "place": place,
            "lab_id": labs[entry["lab"]],
            "marker_ids": [
                numbers[labs[entry["lab"]], code]
                for code in entry["markers"].split("|")
            ],
        }
        for place, entry in enumerate(_read_csv_rows("panels"))
    ]


def upsert_rows_by_id(model: type[Model], entries: Sequence[Model]) -> None:
    """Create or update rows by their ids."""
    columns = [field.name for field in model._meta.fields if not field.primary_key]
    model._base_manager.bulk_create(
        entries, update_conflicts=True, unique_fields=["id"], update_fields=columns
    )


@cache
def _read_csv_rows(name: str) -> tuple[dict[str, str], ...]:
    with (REFERENCE_FOLDER / f"{name}.csv").open(
        newline="", encoding="utf-8"
    ) as opened:
        return tuple(csv.DictReader(opened))
