"""Write the audit: every change and every read of health data goes through here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.utils import timezone

from portal.lib.database.prepared import PreparedStatement
from portal.lib.tenancy import NAMING_NONE, acting_for, execute_last
from portal.lib.web.request_ids import get_current_request_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from accounts.models import Team, Tenant
    from portal.lib.actor import Actor
    from portal.lib.database.prepared import Value


# By hand: through the ORM it would cost more than the rest of a small API read.
_SQL = (
    "INSERT INTO accounts_auditentry (tenant_id, at, verb, subject, subject_id,"
    " user_uuid, actor_kind, actor_key, actor_label, address, changes, request_id)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
)
_INSERT = PreparedStatement("record_change", _SQL)
# What selects of the entry waits for it.
_INSERT_LAST = PreparedStatement(
    "record_last_read",
    f"WITH entry AS ({_SQL} RETURNING 1) SELECT {NAMING_NONE} FROM entry",  # noqa: S608 - the parts are ours
)


def record_change(
    *,
    tenant: Tenant,
    actor: Actor,
    verb: str,
    subject: str,
    subject_id: object,
    user_uuid: UUID | None = None,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Write an audit entry for a change, in the caller's transaction.

    `verb` is the operation's name. `changes` maps a field to `[old, new]`; of patient
    details give the names alone, as `{"fields": [...]}`. Source: Ours (architecture
    2.6): append-only, so that nothing in it can be taken back.
    """
    _INSERT.execute(
        _list_values(tenant, actor, verb, subject, subject_id, user_uuid, changes)
    )


def record_team_change(
    *,
    team: Team,
    actor: Actor,
    verb: str,
    subject: str,
    subject_id: object,
    changes: Mapping[str, object] | None = None,
) -> None:
    """Write an audit entry for a team change, in each of its environments.

    In the name of each, as whoever signs in has entered none of them yet.
    Source: Ours: whoever reads the audit of one environment sees who had access to it.
    """
    for tenant in team.tenants.order_by("pk"):
        with acting_for(tenant):
            record_change(
                tenant=tenant,
                actor=actor,
                verb=verb,
                subject=subject,
                subject_id=subject_id,
                changes=changes,
            )


def record_read(
    *,
    tenant: Tenant,
    actor: Actor,
    subject: str,
    subject_id: object,
    user_uuid: UUID | None = None,
    is_last: bool = False,
) -> None:
    """Write an audit entry for a read of health data.

    `subject_id` is the wire id of what was read, or of whose it is. `is_last`: the call
    asks the database nothing more, so its tenant is named no longer after this. Source:
    as above.
    """
    values = _list_values(tenant, actor, "read", subject, subject_id, user_uuid, None)
    if not (is_last and execute_last(_INSERT_LAST, values)):
        _INSERT.execute(values)


def _list_values(
    tenant: Tenant,
    actor: Actor,
    verb: str,
    subject: str,
    subject_id: object,
    user_uuid: UUID | None,
    changes: Mapping[str, object] | None,
) -> tuple[Value, ...]:
    return (
        str(tenant.pk),
        timezone.now().isoformat(),
        verb,
        subject,
        str(subject_id),
        None if user_uuid is None else str(user_uuid),
        str(actor.kind),
        actor.key,
        actor.label,
        actor.address,
        json.dumps(changes) if changes else "{}",
        get_current_request_id(),
    )
