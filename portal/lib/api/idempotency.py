"""POSTs that may be sent twice: one execution, the same bytes for every call.

The store is portal.lib.idempotency; here it meets the request's headers. Must not be
here: which endpoints take a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.http import HttpResponse

from portal.lib.api.errors import handle_api_exception
from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.api.views import json_response
from portal.lib.errors import DomainError
from portal.lib.idempotency import (
    HEADER,
    RETENTION,
    build_key_in_use_error,
    claim_idempotency_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from rest_framework.request import Request

    from portal.lib.idempotency import Turn
    from portal.lib.web.views import HasTenant

NO_CACHE_HEADER = "x-idempotency-error"


def respond_once_per_idempotency_key(
    view: HasTenant,
    request: Request,
    *,
    endpoint: str,
    work: Callable[[], object],
    retention: timedelta = RETENTION,
) -> HttpResponse:
    """Do `work` and answer it, or repeat the answer of the key's first call.

    The answer is stored in the transaction of the work. A refusal is stored too, unless
    `X-Idempotency-Error: no-cache`; 409, 422 and 503 never are. Without a key the work
    is simply done. Source: Contract 1.6.
    """

    def work_and_store(turn: Turn) -> bytes:
        with transaction.atomic():
            body = dump_json(work())
            if not turn.keep(status=200, body=body):
                raise build_key_in_use_error()
        return body

    return _respond_once(
        view,
        request,
        endpoint=endpoint,
        work=work,
        work_and_store=work_and_store,
        retention=retention,
    )


def respond_once_after_repeatable_work(
    view: HasTenant,
    request: Request,
    *,
    endpoint: str,
    work: Callable[[], object],
    retention: timedelta = RETENTION,
) -> HttpResponse:
    """Do what respond_once_per_idempotency_key does, in no transaction of its own.

    For work that calls others: it must itself find a booking or the like that it has
    made before. Source: Contract 1.6.
    """

    def work_and_store(turn: Turn) -> bytes:
        body = dump_json(work())
        turn.keep(status=200, body=body)
        return body

    return _respond_once(
        view,
        request,
        endpoint=endpoint,
        work=work,
        work_and_store=work_and_store,
        retention=retention,
    )


def _respond_once(
    view: HasTenant,
    request: Request,
    *,
    endpoint: str,
    work: Callable[[], object],
    work_and_store: Callable[[Turn], bytes],
    retention: timedelta,
) -> HttpResponse:
    # Before anything parses it: the body is compared as it was sent.
    raw = request._request.body
    key = request.headers.get(HEADER)
    if not key:
        return json_response(work())
    keep_failures = request.headers.get(NO_CACHE_HEADER, "").strip() != "no-cache"
    with claim_idempotency_key(
        tenant=view.tenant,
        endpoint=endpoint,
        key=key,
        request_body=raw,
        retention=retention,
        keep_failures=keep_failures,
    ) as turn:
        if turn.repeat is not None:
            status, body = turn.repeat
            return HttpResponse(body, status=status, content_type=MEDIA_TYPE)
        try:
            body = work_and_store(turn)
        except DomainError as refusal:
            answered = handle_api_exception(refusal, {"view": view, "request": request})
            if answered is None:
                raise
            body = dump_json(answered.data)
            turn.keep(status=answered.status_code, body=body)
            return HttpResponse(
                body, status=answered.status_code, content_type=MEDIA_TYPE
            )
    return HttpResponse(body, content_type=MEDIA_TYPE)
