"""Erasure of a user: count and delete the rows, and sign the receipt."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from accounts.declarations.hooks import list_app_hooks
from accounts.operations.api_keys.call_log import delete_api_calls_of_user
from accounts.operations.assistants import delete_assistant_calls_of_user
from accounts.operations.members.saved_views import delete_saved_views_filtering_by_ids
from portal.lib.database import rows
from portal.lib.idempotency import delete_answers_containing
from portal.lib.secrets.signatures import sign_with_installation_key
from users.models import User
from users.models.erasure_receipt import ErasureReceipt
from users.queries.users.data_map import list_tables_with_user_data
from users.store.samples import get_sample_store

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant

# Tables that refuse to lose a row let it go in a transaction that says this.
_ERASING = b"SELECT set_config('assay.erasing', 'on', true)"


def erase_user_samples(tenant_pk: int, user_uuid: UUID) -> None:
    """Delete all samples of a user; their origins go with the user's row."""
    mine = User.unscoped.filter(tenant_id=tenant_pk, uuid=user_uuid)
    for user_id in mine.values_list("pk", flat=True):
        get_sample_store().delete_user(user_id=user_id)


def allow_deletes_in_append_only_tables() -> None:
    """Allow deletes in append-only tables until the caller's transaction ends."""
    with rows.open_database_cursor() as opened:
        opened.execute(_ERASING)


def count_user_rows(*, user: User) -> dict[str, int]:
    """Count the rows about a user in each erased table; omit empty tables."""
    counts = {
        table.label: table.rows_of(user).order_by().values("pk").count()
        for table in list_tables_with_user_data()
        if not table.why
    }
    return {label: number for label, number in counts.items() if number}


def remove_mentions_of_user(*, tenant: Tenant, user: User) -> dict[str, int]:
    """Remove mentions of a user from other rows; return how many, by table.

    The log of calls, answers that idempotency keys repeat, and saved views of this user
    alone. Source: Ours: none has a foreign key to the user, and all hold the ids.
    """
    delete_api_calls_of_user(tenant_pk=tenant.pk, user_uuid=user.uuid)
    names = (user.client_user_id, str(user.uuid))
    found = {
        "portal.IdempotentAnswer": delete_answers_containing(
            tenant_pk=tenant.pk, text=str(user.uuid)
        ),
        "accounts.AssistantCall": delete_assistant_calls_of_user(
            tenant_pk=tenant.pk, user_uuid=user.uuid
        ),
        "accounts.SavedView": delete_saved_views_filtering_by_ids(
            tenant_pk=tenant.pk, names=names
        ),
    }
    return {label: number for label, number in found.items() if number}


def create_erasure_receipt(
    *, tenant: Tenant, user_uuid: UUID, deleted_at: datetime, removed: dict[str, int]
) -> ErasureReceipt:
    """Sign and store the receipt of an erasure, in the caller's transaction.

    It names the user by uuid alone and holds numbers of rows, no data. Its `copies` say
    what becomes of the user in each copy outside the database. Source: Ours (workflows:
    a signed list of every store that was emptied).
    """
    receipt = ErasureReceipt(tenant=tenant, user_uuid=user_uuid)
    fields: dict[str, Any] = {
        "receipt": str(receipt.pk),
        "team_id": str(tenant.team.pk),
        "environment": tenant.environment,
        "user_id": str(user_uuid),
        "deleted_at": _moment(deleted_at),
        "erased_at": _moment(receipt.erased_at),
        "removed_rows": removed,
        "kept": {
            table.label: table.why
            for table in list_tables_with_user_data()
            if table.why
        },
    }
    copies: dict[str, object] = {}
    for app in list_app_hooks():
        for erase in app.copy_erasers:
            copies |= erase(tenant, user_uuid, deleted_at)
    if copies:
        fields["copies"] = copies
    receipt.document = json.dumps(fields, sort_keys=True, indent=2)
    signed = receipt.document.encode()
    receipt.sha256 = hashlib.sha256(signed).hexdigest()
    signature = sign_with_installation_key(signed)
    receipt.public_key = signature.public_key
    receipt.signature = signature.signature
    receipt.save(force_insert=True)
    return receipt


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def build_erasure_receipt_file(receipt: ErasureReceipt) -> dict[str, object]:
    """Return the downloadable file of a receipt: its document and signature."""
    return {
        "document": receipt.document,
        "sha256": receipt.sha256,
        "public_key": receipt.public_key,
        "signature": receipt.signature,
        "algorithm": "Ed25519",
        "handed_over_at": _moment(timezone.now()),
    }
