"""One store of answers for POSTs that may be sent twice (contract 1.6).

A row is claimed by INSERT before the work; a second call with the key gets the first
one's status and body.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from django.db import DatabaseError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.database.outages import is_database_outage
from portal.lib.database.rows import open_database_cursor
from portal.lib.errors import Conflict, Invalid
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import HasPrimaryKey, TenantOwned, acting_for

if TYPE_CHECKING:
    from collections.abc import Iterator


KEY_MAX_LENGTH = 255
# A claim whose worker died is given to the next call after this.
CLAIM_TTL = timedelta(seconds=60)
RETENTION = timedelta(hours=24)
HEADER = "x-idempotency-key"
# Validation failures, "the same key is executing" and "nobody answers" are never an
# answer to keep: the last is what the same key is sent again for.
NEVER_STORED = frozenset({409, 422, 503})


class IdempotentAnswer(TenantOwned):
    """A claimed key and, once the work is done, the answer to repeat.

    `status` is None while the first call executes. `kept_until` bounds the repeat.
    """

    rules = TableRules(
        without_user="answers about the user are removed, all in a day",
        retention=RetentionRule(
            "24 hours, for bookings 14 days", "portal.purge_answers"
        ),
    )

    endpoint = models.CharField(max_length=100)
    key = models.CharField(max_length=KEY_MAX_LENGTH)
    request_hash = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.BinaryField(null=True)
    claimed_at = models.DateTimeField()
    kept_until = models.DateTimeField(db_index=True)

    class Meta(TenantOwned.Meta):
        app_label = "portal"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "endpoint", "key"], name="idempotent_once_per_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.pk}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One call's turn with a key.

    `repeat` is the stored (status, body) to send again, or None: then do the work and
    call `keep` with its answer.
    """

    claim: IdempotentAnswer | None
    repeat: tuple[int, bytes] | None
    keep_failures: bool

    def keep(self, *, status: int, body: bytes) -> bool:
        """Store the answer that later calls with the key get; False: another's turn.

        Called in the transaction of the work, the two are stored together or not at
        all, so that no crash in between lets the work be done twice. Who was so slow
        that the next call took the key over rolls the work back.
        """
        is_kept = status not in NEVER_STORED and (status < 400 or self.keep_failures)
        if self.claim is None or not is_kept:
            return True
        return bool(_still_claimed(self.claim).update(status=status, body=body))


@contextmanager
def claim_idempotency_key(
    *,
    tenant: HasPrimaryKey,
    endpoint: str,
    key: str,
    request_body: bytes,
    retention: timedelta = RETENTION,
    keep_failures: bool = True,
) -> Iterator[Turn]:
    """Claim `key` for one execution of `endpoint`, or find its answer.

    Enter outside any transaction: the claim must be seen by other calls at once. An
    answer of 400 and over is kept only if `keep_failures` (`X-Idempotency-Error:
    no-cache` says no); 409, 422 and 503 never are. A claim without an answer is given
    up on leaving, also by an exception. Raises: idempotency_key_in_use (409);
    idempotency_key_mismatch for another body, idempotency_key_too_long (422).
    Source: Contract 1.6.
    """
    if len(key) > KEY_MAX_LENGTH:
        raise Invalid(
            "idempotency_key_too_long",
            _("An idempotency key can have at most %(limit)d characters.")
            % {"limit": KEY_MAX_LENGTH},
            HEADER,
            place="header",
        )
    now = timezone.now()
    claim_values = {
        "request_hash": hashlib.sha256(request_body).digest(),
        "status": None,
        "body": None,
        "claimed_at": now,
        "kept_until": now + retention,
    }
    found, is_mine = _claim(tenant, endpoint, key, claim_values)
    if not is_mine:
        yield Turn(None, _answer_of(found, claim_values), keep_failures)
        return
    try:
        yield Turn(found, None, keep_failures)
    finally:
        _give_up(found, tenant)


def _give_up(claim: IdempotentAnswer, tenant: HasPrimaryKey) -> None:
    """End a claim that was not answered, over a new connection where its own broke.

    With the database away the claim ends by CLAIM_TTL, and what is answered counts: the
    work and its answer are kept together, or neither is.
    """
    try:
        _still_claimed(claim).delete()
    except DatabaseError as error:
        # Of another kind where Django has replaced the connection, which then names no
        # tenant; its cause is the outage all the same.
        if not is_database_outage(error):
            raise
        with suppress(DatabaseError, psycopg.OperationalError), acting_for(tenant):
            _still_claimed(claim).delete()


def build_key_in_use_error() -> Conflict:
    """Return the refusal of a call whose key another one executes.

    Source: Contract 1.6.
    """
    return Conflict(
        "idempotency_key_in_use", _("A request with this key is in progress.")
    )


def _claim(
    tenant: HasPrimaryKey, endpoint: str, key: str, claim_values: dict[str, Any]
) -> tuple[IdempotentAnswer, bool]:
    """The row of the key, and whether it is ours to answer now."""
    rows = IdempotentAnswer.unscoped.filter(tenant=tenant, endpoint=endpoint, key=key)
    while True:
        with transaction.atomic():
            row, is_new = IdempotentAnswer.unscoped.get_or_create(
                tenant=tenant, endpoint=endpoint, key=key, defaults=claim_values
            )
            if is_new:
                return row, True
            locked: IdempotentAnswer | None = rows.select_for_update().first()
            if locked is None:
                continue  # given up since it was found: try for it again
            is_dead = (
                locked.status is None
                and claim_values["claimed_at"] - locked.claimed_at >= CLAIM_TTL
            )
            if not is_dead and locked.kept_until > claim_values["claimed_at"]:
                return locked, False
            for name, value in claim_values.items():
                setattr(locked, name, value)
            locked.save(update_fields=sorted(claim_values))
            return locked, True


def _answer_of(
    row: IdempotentAnswer, claim_values: dict[str, Any]
) -> tuple[int, bytes]:
    if bytes(row.request_hash) != claim_values["request_hash"]:
        raise Invalid(
            "idempotency_key_mismatch",
            _("This key was already used with a different body."),
            HEADER,
            place="header",
        )
    if row.status is None:
        raise build_key_in_use_error()
    return row.status, bytes(row.body or b"")


def _still_claimed(row: IdempotentAnswer) -> models.QuerySet[IdempotentAnswer]:
    """The claim while it is ours: unanswered, and taken over by nobody."""
    return IdempotentAnswer.unscoped.filter(
        pk=row.pk, claimed_at=row.claimed_at, status=None
    )


def delete_expired_answers() -> int:
    """Remove answers past their time; returns how many. Work over all tenants."""
    return IdempotentAnswer.unscoped.filter(kept_until__lte=timezone.now()).delete()[0]


def delete_answers_containing(*, tenant_pk: int, text: str) -> int:
    """Remove a tenant's answers that hold `text`; returns how many.

    Whoever sends their key again then does the work anew. Source: Ours: an answer may
    be about a user who is erased.
    """
    with open_database_cursor() as opened:
        opened.execute(
            b"DELETE FROM portal_idempotentanswer"
            b" WHERE tenant_id = %s AND position(%s IN body) > 0",
            (tenant_pk, text.encode()),
        )
        return opened.rowcount
