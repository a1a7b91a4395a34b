"""Labs, markers, panels, lab accounts and orders for tests; the people are made up."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

from labs.models import (
    KitStock,
    Lab,
    LabAccount,
    LabAccountTeam,
    LabTest,
    Marker,
    Order,
)
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.orders.placing import place_order
from labs.operations.orders.plans import OrderRequest
from labs.states.accounts import LabAccountStatus
from labs.states.catalogue import (
    CollectionMethod,
    LabTestStatus,
    MarkerType,
    SampleType,
)
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user

_numbers = itertools.count(1)
PATIENT = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+15550101",
    "email": "ada@assay.example",
}
ADDRESS = {
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
}
PHYSICIAN = {"first_name": "Vera", "last_name": "Example", "npi": "1234567893"}
# Numbers of test labs and markers lie above those of the reference set.
_FIRST = 900_000


def make_lab(slug: str | None = None, *, tenant: Any = None, **fields: Any) -> Lab:
    """A lab of the tenant's environment; of the sandbox without one."""
    if tenant is not None:
        fields["environment"] = tenant.environment
    number = _FIRST + next(_numbers)
    lab = Lab(
        id=number,
        slug=slug or f"lab_{number}",
        name=fields.pop("name", f"Lab {number}"),
        first_line_address="2 Sample Street",
        city="Phoenix",
        zipcode="85004",
        collection_methods=CollectionMethod.values,
        sample_types=SampleType.values,
        **fields,
    )
    lab.save(force_insert=True)
    return lab


def comment_lab(name: str = "Northgate") -> Lab:
    """A lab whose requisitions print comments; where it is laid already, that one."""
    known = Lab.objects.filter(slug="quest", environment="sandbox")
    lab = known.first() or make_lab("quest")
    lab.name = name
    lab.save(update_fields=["name"])
    return lab


def make_marker(*, lab: Lab, **fields: Any) -> Marker:
    number = _FIRST + next(_numbers)
    marker = Marker(
        **{
            "id": number,
            "lab": lab,
            "name": f"Marker {number}",
            "slug": f"marker-{number}",
            "provider_id": str(number),
            "type": MarkerType.BIOMARKER,
            "unit": "mg/dL",
            "price": Decimal("12.50"),
            "sample_type": SampleType.SERUM,
            "common_tat_days": 2,
            "worst_case_tat_days": 5,
            **fields,
        }
    )
    marker.save(force_insert=True)
    return marker


def make_lab_test(
    *,
    tenant: Any,
    lab: Lab | None = None,
    markers: tuple[Marker, ...] | None = None,
    **fields: Any,
) -> LabTest:
    """An active walk-in panel of one marker."""
    lab = lab or make_lab(tenant=tenant)
    number = next(_numbers)
    panel = LabTest(
        **{
            "tenant": tenant,
            "lab": lab,
            "name": f"Panel {number}",
            "slug": f"panel-{number}",
            "sample_type": SampleType.SERUM,
            "method": CollectionMethod.WALK_IN_TEST,
            "price": Decimal("40.00"),
            "status": LabTestStatus.ACTIVE,
            **fields,
        }
    )
    panel.save(force_insert=True)
    panel.markers.set(markers if markers is not None else (make_marker(lab=lab),))
    return panel


def make_lab_account(*, tenant: Any, lab: Lab, **fields: Any) -> LabAccount:
    """An active account that bills the team in every state, linked to its team."""
    from labs.states.accounts import US_STATES

    account = LabAccount(
        **{
            "organisation_id": tenant.team.organisation_id,
            "environment": tenant.environment,
            "lab": lab,
            "status": LabAccountStatus.ACTIVE,
            "provider_account_id": str(next(_numbers)),
            "allowed_billing": {"client_bill": sorted(US_STATES)},
            **fields,
        }
    )
    account.save(force_insert=True)
    LabAccountTeam(account=account, team_id=tenant.team_id).save(force_insert=True)
    return account


def set_up_production(*, tenant: Any, lab: Lab) -> LabAccount:
    """The active account that production orders of a lab need; the one there is.

    The suite's gateway is HL7, see tests/conftest.py.
    """
    linked = LabAccount.objects.linked_to(tenant).filter(lab=lab).first()
    return linked or make_lab_account(tenant=tenant, lab=lab)


def order_request(
    *, user: Any, panels: tuple[LabTest, ...] = (), **wanted: Any
) -> OrderRequest:
    return OrderRequest(
        **{
            "user_id": user.uuid,
            "order_set": OrderSet(lab_test_ids=tuple(panel.pk for panel in panels)),
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
            **wanted,
        }
    )


def make_order(
    *, tenant: Any, user: Any = None, lab_test: LabTest | None = None, **wanted: Any
) -> Order:
    """An order placed by the operation, at `ordered`; production is set up for it."""
    user = user or make_user(tenant=tenant)
    panel = lab_test or make_lab_test(tenant=tenant)
    if not tenant.is_sandbox:
        set_up_production(tenant=tenant, lab=panel.lab)
        wanted = {"physician": PHYSICIAN, **wanted}
    return place_order(
        tenant=tenant,
        actor=ACTOR,
        request=order_request(user=user, panels=(panel,), **wanted),
    )


def make_kit_stock(*, panel: LabTest, count: int = 50, warn_below: int = 10) -> Any:
    stock = KitStock(
        tenant=panel.tenant, lab_test=panel, count=count, warn_below=warn_below
    )
    stock.save(force_insert=True)
    return stock
