"""Reference data: labs, markers, results, service centers and panels.

The files are labs/data/*.csv, in the order of their ids, which never change. The lab
codes of markers are made up for the sandbox: before sending production orders, compare
them with the lab's compendium. LOINC codes and names are those of LOINC.
"""

from __future__ import annotations

import csv
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from psycopg.types.json import Jsonb

from accounts.models import Tenant
from labs.models import ExpectedResult, Lab, Marker
from labs.operations.catalogue.service_centers import (
    parse_service_center_rows,
    upsert_service_centers,
)
from labs.states.catalogue import Generation, LabTestStatus
from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import Model

_DATA = Path(__file__).parents[2] / "data"


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
        _upsert_rows(Lab, read_reference_labs())
        _upsert_rows(Marker, read_reference_markers())
        _upsert_rows(ExpectedResult, read_reference_results())
        upsert_service_centers(
            parse_service_center_rows(
                entries=_read_csv_rows("service_centers"), labs=read_reference_labs()
            )
        )
        install_reference_panels(list(Tenant.objects.order_by("pk")))


def install_reference_panels(tenants: Sequence[Tenant]) -> None:
    """Create the active reference panels that tenants lack.

    One that was renamed or archived is there and stays so.
    """
    with rows.open_database_cursor() as opened:
        opened.execute(
            _LAY_PANELS,
            (
                Jsonb(_read_reference_panels()),
                LabTestStatus.ACTIVE.value,
                Generation.MANUAL.value,
                [tenant.pk for tenant in tenants],
                timezone.now(),
            ),
        )


@cache
def read_reference_labs() -> tuple[Lab, ...]:
    """Return the built-in labs (contract 6.1)."""
    return tuple(
        Lab(
            **{
                **entry,
                "collection_methods": _split_list(entry["collection_methods"]),
                "sample_types": _split_list(entry["sample_types"]),
            }
        )
        for entry in _read_csv_rows("labs")
    )


@cache
def read_reference_markers() -> tuple[Marker, ...]:
    """Return the built-in markers with their questions (contract 6.2)."""
    labs = {lab.slug: lab for lab in read_reference_labs()}
    questions = {
        entry["key"]: _parse_question(entry) for entry in _read_csv_rows("questions")
    }
    return tuple(
        Marker(
            id=int(entry["id"]),
            lab_id=labs[entry["lab"]].id,
            name=entry["name"],
            slug=slugify(entry["name"]),
            description=entry["description"],
            provider_id=entry["provider_id"],
            type=entry["type"],
            unit=entry["unit"],
            price=Decimal(entry["price"]) if entry["price"] else None,
            sample_type=entry["sample_type"],
            container=entry["container"],
            fasting=entry["fasting"] == "true",
            a_la_carte_enabled=entry["a_la_carte_enabled"] == "true",
            is_orderable=entry["is_orderable"] == "true",
            common_tat_days=int(entry["common_tat_days"]),
            worst_case_tat_days=int(entry["worst_case_tat_days"]),
            aoe_questions=[
                {**questions[key], "sequence": number}
                for number, key in enumerate(_split_list(entry["questions"]), 1)
            ],
        )
        for entry in _read_csv_rows("markers")
    )


@cache
def read_reference_results() -> tuple[ExpectedResult, ...]:
    """Return the expected results of the built-in markers."""
    return tuple(
        ExpectedResult(
            id=int(entry["id"]),
            marker_id=int(entry["marker_id"]),
            name=entry["name"],
            slug=slugify(entry["name"]),
            provider_id=entry["provider_id"],
            required=entry["required"] == "true",
            loinc_code=entry["loinc_code"],
            loinc_name=entry["loinc_name"],
            unit=entry["unit"],
            result_type=entry["result_type"],
            low=float(entry["low"]) if entry["low"] else None,
            high=float(entry["high"]) if entry["high"] else None,
            coded_values=_split_list(entry["coded_values"]),
        )
        for entry in _read_csv_rows("expected_results")
    )


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
                for code in _split_list(entry["markers"])
            ],
        }
        for place, entry in enumerate(_read_csv_rows("panels"))
    ]


def _upsert_rows(model: type[Model], entries: Sequence[Model]) -> None:
    columns = [field.name for field in model._meta.fields if not field.primary_key]
    model._base_manager.bulk_create(
        entries, update_conflicts=True, unique_fields=["id"], update_fields=columns
    )


def _parse_question(entry: dict[str, str]) -> dict[str, Any]:
    answers = [answer.split("=", 1) for answer in _split_list(entry["answers"])]
    return {
        "id": int(entry["id"]),
        "required": entry["required"] == "true",
        "code": entry["code"],
        "value": entry["value"],
        "type": entry["type"],
        "answers": [
            {"id": number, "code": code, "value": value}
            for number, (code, value) in enumerate(answers, 1)
        ],
        "constraint": entry["constraint"] or None,
        "default": None,
    }


@cache
def _read_csv_rows(name: str) -> tuple[dict[str, str], ...]:
    with (_DATA / f"{name}.csv").open(newline="", encoding="utf-8") as opened:
        return tuple(csv.DictReader(opened))


def _split_list(text: str) -> list[str]:
    return text.split("|") if text else []
