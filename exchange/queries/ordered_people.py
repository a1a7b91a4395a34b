"""The person of results, as the order of them named the person to the lab.

Whose demographics nobody sent has a name and a birth date there: results without them
are of no use to whoever treats the person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.resources.base import parse_uuid
from exchange.resources.datatypes import drop_empty
from labs.queries.population import orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from exchange.resources.base import Json


def find_ordered_person(tenant: Tenant, report_ids: Sequence[str]) -> Json:
    """Return name and birth date of the newest order of these reports, as of a Patient.

    Empty where none is of an order. The caller audits the read.
    """
    ids = [uuid for one in report_ids if (uuid := parse_uuid(one))]
    newest = orders(tenant).filter(pk__in=ids).order_by("-created_at").first()
    details = (newest.patient_details if newest else None) or {}
    name = drop_empty(
        {
            "family": details.get("last_name"),
            "given": [given] if (given := details.get("first_name")) else [],
        }
    )
    born = str(newest.patient_dob) if newest and newest.patient_dob else None
    return drop_empty({"name": [name] if name else [], "birthDate": born})


def complete_patient(ordered: Json, resource: Json) -> Json:
    """Return a Patient with what is not known of it as the order has it.

    Any other resource stays as it is.
    """
    if resource["resourceType"] != "Patient":
        return resource
    is_named = any({"family", "given"} & one.keys() for one in resource["name"])
    named = {} if is_named else {"name": ordered.get("name", resource["name"])}
    return {**ordered, **resource, **named}
