"""Uploads of phones: keep a batch before its sender is answered, and run what waits."""

from __future__ import annotations

import base64
import hashlib
import zlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.actor import Actor
from portal.lib.database import rows
from portal.lib.errors import DomainError, NotFound, TooLarge, TooMany
from portal.lib.jobs import jobs
from portal.lib.secrets.encryption import (
    UnreadableSecret,
    encrypt_secret,
)
from users.models import Phone, PhonePiece, PhoneUpload, User
from users.operations.phones.reading import read_upload
from users.operations.phones.storing import store_batch
from users.queries import live_user
from users.queries.phones import unpack_kept_content
from users.states.phones import PieceKind, UploadOutcome

if TYPE_CHECKING:
    from accounts.models import Tenant

STORE_JOB = "users.store_phone_uploads"
# A batch as sent, and unpacked: of health data gzip makes a tenth.
BODY_MAX_BYTES = 10 * 1024**2
UNPACKED_MAX_BYTES = 32 * 1024**2
# Ours: what waits of one user, and of all of a team. A month of a watch is some fifty
# batches; who waits longer sends them again.
_WAITING_MAX = 400
_WAITING_MAX_BYTES = 512 * 1024**2
_WAIT = timedelta(seconds=60)
UPLOAD_RETENTION = timedelta(days=90)
PIECE_RETENTION = timedelta(days=90)
# A cycle is made again of all its entries: a late one must not cut it.
CYCLE_RETENTION = timedelta(days=731)
# Below others, so that a phone's month holds nobody up.
_PRIORITY = -10
# Quick, as the sender waits: a batch stays for seconds.
_LEVEL = 1
_LOCK = b"SELECT pg_advisory_xact_lock(hashtext('phone uploads'), %s)"
_STORER = Actor.system(STORE_JOB)


def unpack_upload(body: bytes, *, encoding: str) -> bytes:
    """Return the bytes of a batch; `encoding` is its Content-Encoding.

    Never unpacks more than UNPACKED_MAX_BYTES. Raises: upload_too_large (413);
    encoding_unknown; upload_damaged. Source: RFC 9110 8.4; Ours: the limits.
    """
    if len(body) > BODY_MAX_BYTES:
        raise _too_large()
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            unpacker = zlib.decompressobj(wbits=31)
        case _:
            raise DomainError(
                "encoding_unknown", _("Send the batch as gzip or as it is.")
            )
    try:
        unpacked = unpacker.decompress(body, UNPACKED_MAX_BYTES + 1)
    except zlib.error:
        raise _damaged() from None
    if len(unpacked) > UNPACKED_MAX_BYTES:
        raise _too_large()
    if not unpacker.eof:
        raise _damaged()
    return unpacked


def parse_upload(content: bytes) -> dict[str, Any]:
    """Return the object of a batch. Raises: upload_damaged (no JSON object)."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:  # also of what is nested too deep
        raise _damaged() from None
    if not isinstance(body, dict):
        raise _damaged()
    return body


def receive_upload(
    *, phone: Phone, form: str, content: bytes
) -> tuple[PhoneUpload, bool]:
    """Keep a batch of a phone's user and have it stored; whether it is new.

    The same bytes of one user are one batch, whichever phone sends them and however
    often; what is in it twice is stored once too. `form` says how it is read, see
    read_upload. Committed when it returns, outside of a transaction. Raises:
    too_many_waiting (what the user sent before is not stored yet, or what the team's
    phones sent). Source: Ours: who is answered may forget what was sent.
    """
    tenant, user = phone.tenant, phone.user
    digest = hashlib.sha256(form.encode() + b"\n" + content).hexdigest()
    now = timezone.now()
    with transaction.atomic():
        _lock(user)
        mine = PhoneUpload.objects.for_tenant(tenant).filter(user=user)
        known: PhoneUpload | None = mine.filter(digest=digest).first()
        Phone.objects.for_tenant(tenant).filter(pk=phone.pk).update(uploaded_at=now)
        if known is not None and known.outcome != UploadOutcome.FAILED:
            return known, False
        waiting = mine.filter(outcome=UploadOutcome.WAITING)
        has_job = waiting.exists()
        _check_room(tenant, waiting.count() if has_job else 0)
        packed = base64.b64encode(zlib.compress(content, _LEVEL)).decode()
        upload = known or PhoneUpload(
            tenant=tenant,
            user=user,
            phone=phone,
            form=form,
            digest=digest,
            size=len(content),
        )
        upload.outcome = UploadOutcome.WAITING
        upload.content = encrypt_secret(packed)
        upload.received_at = now
        upload.save()
        if not has_job:
            _enqueue(tenant, user.pk)
    return upload, True


def store_next_upload(*, tenant: Tenant, user_pk: int) -> bool:
    """Store the oldest batch that waits of a user, and have the next one stored.

    One batch a run and one run a user: whoever has hundreds takes turns with all
    others. Safe to repeat: what is stored already is unchanged. Returns whether there
    was one. Source: Ours.
    """
    waiting = _waiting(tenant, user_pk)
    upload: PhoneUpload | None = (
        waiting.select_related("phone", "user").order_by("id").first()
    )
    if upload is None:
        return False
    upload.tenant = tenant
    try:
        user = live_user(tenant=tenant, user_id=upload.user.uuid)
    except NotFound:
        waiting.update(outcome=UploadOutcome.FAILED, content="")
        return False
    try:
        batch = read_upload(
            user=user,
            form=upload.form,
            body=parse_upload(unpack_kept_content(upload.content)),
            at=upload.received_at,
        )
    except (DomainError, UnreadableSecret, KeyError):
        _finish(tenant, upload, outcome=UploadOutcome.FAILED)
        return True
    stored = store_batch(user=user, actor=_STORER, batch=batch)
    if batch.provider != upload.phone.provider:
        Phone.objects.for_tenant(tenant).filter(pk=upload.phone_id).update(
            provider=batch.provider
        )
    _finish(
        tenant,
        upload,
        outcome=UploadOutcome.STORED,
        records=batch.records,
        refused=batch.refused,
        counts=stored,
        unknown=dict(batch.unknown),
        refusals=[
            {
                "list": each.where.list,
                "index": each.where.at,
                "id": each.where.id,
                "type": each.type,
                "reason": each.reason,
            }
            for each in batch.refusals
        ],
    )
    return True


def fail_next_upload(*, tenant: Tenant, user_pk: int) -> None:
    """Give up the batch that no run could store, and go on with the next."""
    upload = _waiting(tenant, user_pk).order_by("id").first()
    if upload is not None:
        _finish(tenant, upload, outcome=UploadOutcome.FAILED)


def delete_old_uploads() -> int:
    """Delete old uploads, pieces and kept content, of all tenants; return how many."""
    now = timezone.now()
    removed, _by_model = PhoneUpload.unscoped.filter(
        received_at__lt=now - UPLOAD_RETENTION
    ).delete()
    is_cycle = Q(kind=PieceKind.CYCLE)
    pieces, _by_model = PhonePiece.unscoped.filter(
        (~is_cycle & Q(at__lt=now - PIECE_RETENTION))
        | (is_cycle & Q(at__lt=now - CYCLE_RETENTION))
    ).delete()
    kept = timedelta(days=settings.PHONE_UPLOADS_KEPT_DAYS)
    emptied = (
        PhoneUpload.unscoped.filter(stored_at__lt=now - kept)
        .exclude(outcome=UploadOutcome.WAITING)
        .exclude(content="")
        .update(content="")
    )
    return int(removed) + int(pieces) + int(emptied)


def _finish(
    tenant: Tenant, upload: PhoneUpload, *, outcome: UploadOutcome, **changes: Any
) -> None:
    keeps = settings.PHONE_UPLOADS_KEPT_DAYS > 0
    with transaction.atomic():
        _lock_pk(upload.user_id)
        PhoneUpload.objects.for_tenant(tenant).filter(pk=upload.pk).update(
            outcome=outcome,
            stored_at=timezone.now(),
            content=upload.content if keeps else "",
            **changes,
        )
        if _waiting(tenant, upload.user_id).exists():
            _enqueue(tenant, upload.user_id)


def _check_room(tenant: Tenant, of_user: int) -> None:
    """Refuse more than can be stored soon. Raises: too_many_waiting."""
    is_over = of_user >= _WAITING_MAX
    if not is_over and of_user:
        all_of_team = PhoneUpload.objects.for_tenant(tenant).filter(
            outcome=UploadOutcome.WAITING
        )
        size = all_of_team.aggregate(size=Sum("size"))["size"] or 0
        is_over = size > _WAITING_MAX_BYTES
    if is_over:
        raise TooMany(
            "too_many_waiting",
            _("Earlier batches are still being stored. Send this one later."),
            wait=_WAIT,
        )


def _waiting(tenant: Tenant, user_pk: int) -> Any:
    return PhoneUpload.objects.for_tenant(tenant).filter(
        user_id=user_pk, outcome=UploadOutcome.WAITING
    )


def _enqueue(tenant: Tenant, user_pk: int) -> None:
    jobs.enqueue_job(
        STORE_JOB,
        tenant=tenant,
        lock=f"{STORE_JOB}:{user_pk}",
        priority=_PRIORITY,
        user_pk=user_pk,
    )


def _lock(user: User) -> None:
    _lock_pk(user.pk)


def _lock_pk(user_pk: int) -> None:
    """Wait for others who add or finish a batch of the user, for milliseconds."""
    with rows.open_database_cursor() as opened:
        opened.execute(_LOCK, [user_pk % 2**31])


def _too_large() -> TooLarge:
    return TooLarge("upload_too_large", _("A batch has at most 10 MB."))


def _damaged() -> DomainError:
    return DomainError("upload_damaged", _("Send a JSON object."))
