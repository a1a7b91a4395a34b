"""Demo data of lab testing: the accounts of the sandbox seed (contract 6.18).

Labs and panels come with every tenant (labs.operations.catalogue.reference_data).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from labs.models import LabAccount
from labs.operations.accounts import (
    LabAccountRequest,
    change_lab_account_status,
    create_lab_account,
)
from labs.queries.catalogue import list_labs
from labs.states.accounts import US_STATES, Billing, LabAccountStatus

if TYPE_CHECKING:
    from accounts.declarations.demo_data import DemoScene

# Lab, account number, status, name.
_ACCOUNTS = (
    ("quest", "DEMO-1001", LabAccountStatus.ACTIVE, "Main"),
    ("sonora_quest", "DEMO-2001", LabAccountStatus.ACTIVE, "Arizona"),
    ("labcorp", "DEMO-3001", LabAccountStatus.PENDING, "West branch"),
)
_NOTES = "Demo account: no patient of this order is real."


@transaction.atomic
def load_demo_lab_accounts(scene: DemoScene) -> None:
    """Create an account at each of three labs in the sandbox, if missing.

    A lab with an account of the team's own is left alone: a second active one would
    make its orders name their account. Source: Contract 6.18.
    """
    tenant = scene.tenant
    taken = set(
        LabAccount.objects.of_organisation(tenant).values_list("lab__slug", flat=True)
    )
    labs = {lab.slug: lab for lab in list_labs(tenant=tenant)}
    for slug, number, status, name in _ACCOUNTS:
        if slug in taken:
            continue
        account = create_lab_account(
            tenant=tenant,
            actor=scene.actor,
            lab=labs[slug],
            request=LabAccountRequest(
                provider_account_id=number,
                account_name=name,
                default_clinical_notes=_NOTES,
                allowed_billing={Billing.CLIENT_BILL: sorted(US_STATES)},
            ),
        )
        if status != account.status:
            change_lab_account_status(
                tenant=tenant, actor=scene.actor, account=account, to=status
            )
