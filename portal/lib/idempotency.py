"""One store of answers for POSTs that may be sent twice (contract 1.6).

A row is claimed by INSERT before the work; a second call with the key gets the first
one's status and body. Must not be here: which endpoints take a key.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import models, transaction
from django.utils import timezone

from portal.lib.errors import Conflict, Invalid
from portal.lib.tenancy import TenantOwned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.models import Tenant

KEY_MAX_LENGTH = 255
# A claim whose worker died is given to the next call after this.
CLAIM_TTL = timedelta(seconds=60)
RETENTION = timedelta(hours=24)
HEADER = "x-idempotency-key"
# Validation failures and "the same key is executing" are never an answer to keep.
NEVER_STORED = frozenset({409, 422})


class IdempotentAnswer(TenantOwned):
    """A claimed key and, once the work is done, the answer to repeat.

    `status` is None while the first call executes. `kept_until` bounds the repeat.
    """

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


@dataclass(slots=True)
class Turn:
    """One call's turn with a key.

    `repeat` is the stored (status, body) to send again, or None: then do the work and
    call `keep` with its answer.
    """

    repeat: tuple[int, bytes] | None = None
    answer: tuple[int, bytes] | None = field(default=None, init=False)

    def keep(self, *, status: int, body: bytes) -> None:
        """Name the answer that later calls with the key get."""
        self.answer = (status, body)


@contextmanager
def take_turn(
    *,
    tenant: Tenant,
    endpoint: str,
    key: str,
    request_body: bytes,
    retention: timedelta = RETENTION,
    keep_failures: bool = True,
) -> Iterator[Turn]:
    """Claim `key` for one execution of `endpoint`, or find its answer.

    Enter outside any transaction: the claim must be seen by other calls at once. An
    answer of 400 and over is kept only if `keep_failures` (`X-Idempotency-Error:
    no-cache` says no); 409 and 422 never are. A claim without an answer is given up on
    leaving, also by an exception. Raises: idempotency_key_in_use (409);
    idempotency_key_mismatch (422) for another body. Source: Contract 1.6.
    """
    digest = hashlib.sha256(request_body).digest()
    now = timezone.now()
    claim = {
        "request_hash": digest,
        "status": None,
        "body": None,
        "claimed_at": now,
        "kept_until": now + retention,
    }
    row = _claim(tenant, endpoint, key, claim)
    if isinstance(row, Turn):
        yield row
        return
    turn = Turn()
    try:
        yield turn
    finally:
        _settle(row, turn, keep_failures=keep_failures)


def _claim(
    tenant: Tenant, endpoint: str, key: str, claim: dict[str, Any]
) -> IdempotentAnswer | Turn:
    now = claim["claimed_at"]
    with transaction.atomic():
        rows = IdempotentAnswer.objects.for_tenant(tenant)
        IdempotentAnswer.unscoped.bulk_create(
            [IdempotentAnswer(tenant=tenant, endpoint=endpoint, key=key, **claim)],
            ignore_conflicts=True,
        )
        row: IdempotentAnswer = rows.select_for_update().get(
            endpoint=endpoint, key=key
        )
        mine = row.claimed_at == now and row.status is None
        stale = row.status is None and now - row.claimed_at >= CLAIM_TTL
        if mine or stale or row.kept_until <= now:
            for name, value in claim.items():
                setattr(row, name, value)
            row.save(update_fields=sorted(claim))
            return row
    if bytes(row.request_hash) != claim["request_hash"]:
        raise Invalid(
            "idempotency_key_mismatch", "This key was used with another body.", HEADER
        )
    if row.status is None:
        raise Conflict(
            "idempotency_key_in_use", "A request with this key is being executed."
        )
    return Turn(repeat=(row.status, bytes(row.body or b"")))


def _settle(row: IdempotentAnswer, turn: Turn, *, keep_failures: bool) -> None:
    mine = IdempotentAnswer.unscoped.filter(pk=row.pk, claimed_at=row.claimed_at)
    status, body = turn.answer or (409, b"")
    if status in NEVER_STORED or (status >= 400 and not keep_failures):
        mine.delete()
    else:
        mine.update(status=status, body=body)


def purge_answers() -> int:
    """Remove answers past their time; returns how many. Work over all tenants."""
    return IdempotentAnswer.unscoped.filter(kept_until__lte=timezone.now()).delete()[0]
