"""Send texts by Twilio's Messages API, and check its status callbacks.

Facts as published on 2026-11-23 below twilio.com/docs. A message is sent by POST of a
form (To, Body, From or MessagingServiceSid, StatusCallback) to
/2010-04-01/Accounts/{sid}/Messages.json under basic authentication, and answered with
its `sid` and `status` (messaging/api/message-resource). GET of Accounts/{sid}.json
answers with the account's `status` (iam/api/account). An error is an object with a
`code` (usage/twilios-response). What got 429 was not processed (errors/20429). Who has
sent STOP is refused with 21610 (errors/21610). Callbacks are signed in
X-Twilio-Signature (usage/security). The API takes no key that makes a POST idempotent.

No text of a failure holds a number, a message, a secret or a byte of the answer.
"""

from __future__ import annotations

import base64
import hmac
import time
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from django.utils import timezone

from labs.gateways.patient_messages.base import (
    MessageRefused,
    MessageRejected,
    Receipt,
)
from labs.states.patient_notices import NoticeStatus

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    import httpx

    from labs.gateways.patient_messages.base import PatientMessage

# Nothing overrides it while the server runs; tests put a server of this machine here.
API_URL = "https://api.twilio.com"
UNSUBSCRIBED = "21610"
CALL_TIMEOUT = timedelta(seconds=20)
_SILENCE = timedelta(seconds=10)
_LONGEST_WAIT = timedelta(hours=1)
_ANSWER_MAX_BYTES = 256 * 1024
_CODE_MAX_LENGTH = 10
_ID_MAX_LENGTH = 64
_STATUSES = {
    "accepted": NoticeStatus.ACCEPTED,
    "scheduled": NoticeStatus.ACCEPTED,
    "queued": NoticeStatus.ACCEPTED,
    "sending": NoticeStatus.ACCEPTED,
    "sent": NoticeStatus.SENT,
    "delivered": NoticeStatus.DELIVERED,
    "read": NoticeStatus.DELIVERED,
    "undelivered": NoticeStatus.UNDELIVERED,
    "failed": NoticeStatus.UNDELIVERED,
    "canceled": NoticeStatus.UNDELIVERED,
}


@dataclass(frozen=True, slots=True)
class TwilioMessenger:
    """An account of Twilio; `sender` is its number or its messaging service."""

    account_sid: str
    auth_token: str = field(repr=False)
    sender: str

    def send(self, message: PatientMessage) -> Receipt:
        """Send a text. Raises: MessageRefused, MessageRejected."""
        kind = "MessagingServiceSid" if self.sender.startswith("MG") else "From"
        answer = self._call(
            "POST",
            "/Messages.json",
            {
                "To": message.to,
                "Body": message.text,
                kind: self.sender,
                "StatusCallback": message.status_url,
            },
        )
        # It was taken whatever the answer says: sending again would text twice.
        return Receipt(
            status=find_notice_status(str(answer.get("status")))
            or NoticeStatus.ACCEPTED,
            provider_id=str(answer.get("sid") or "")[:_ID_MAX_LENGTH],
        )

    def is_account_active(self) -> bool:
        """Return whether the account may send; nothing is sent to find out.

        Raises: MessageRefused; MessageRejected where the credentials are wrong.
        """
        return self._call("GET", ".json").get("status") == "active"

    def _call(
        self, method: str, path: str, form: dict[str, str] | None = None
    ) -> dict[str, Any]:
        import httpx  # loads with the first call, as does what is built on it

        from portal.lib.network.outgoing import DeadlineTransport

        ends = time.monotonic() + CALL_TIMEOUT.total_seconds()
        transport = DeadlineTransport(ssl_context=_tls_context(), ends=ends)
        try:
            with (
                httpx.Client(
                    transport=transport,
                    timeout=_SILENCE.total_seconds(),
                    follow_redirects=False,
                ) as client,
                client.stream(
                    method,
                    f"{API_URL}/2010-04-01/Accounts/{self.account_sid}{path}",
                    data=form,
                    auth=httpx.BasicAuth(self.account_sid, self.auth_token),
                    headers={
                        "User-Agent": "Assay",
                        "Accept": "application/json",
                        "Accept-Encoding": "identity",
                    },
                ) as response,
            ):
                content = _read_body(response)
        except (httpx.HTTPError, OSError):
            # Its text may name the account.
            raise MessageRefused("no_answer") from None
        return _judge(response, content)


def find_notice_status(word: str) -> NoticeStatus | None:
    """Return the status that a message of Twilio's status has; None for others."""
    return _STATUSES.get(word)


def is_status_callback_signed(
    *,
    auth_token: str,
    url: str,
    parameters: Mapping[str, Sequence[str]],
    signature: str,
) -> bool:
    """Return whether a form posted to `url` is signed with the account's token.

    HMAC-SHA1 over the URL and the sorted parameters. Twilio may leave out the URL's
    port or name the usual one, so both count. Source: twilio.com/docs/usage/security
    and the client library's RequestValidator, 2026-11-23.
    """
    posted = "".join(
        f"{name}{value}"
        for name in sorted(parameters)
        for value in sorted(set(parameters[name]))
    )
    given = signature.encode("utf-8", "replace")
    matches = [
        hmac.compare_digest(_sign(auth_token, f"{each}{posted}"), given)
        for each in _with_and_without_port(url)
    ]
    return any(matches)


def _sign(auth_token: str, text: str) -> bytes:
    digest = hmac.digest(auth_token.encode(), text.encode(), "sha1")
    return base64.b64encode(digest)


def _with_and_without_port(url: str) -> set[str]:
    parts = urlsplit(url)
    host = parts.netloc.rpartition(":")[0] if parts.port else parts.netloc
    port = parts.port or {"https": 443}.get(parts.scheme, 80)
    return {
        url,
        parts._replace(netloc=host).geturl(),
        parts._replace(netloc=f"{host}:{port}").geturl(),
    }


def _judge(response: httpx.Response, content: bytes) -> dict[str, Any]:
    """Return the object of a success. Raises: MessageRefused, MessageRejected."""
    status = response.status_code
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        answer = {}
    if response.is_success:
        return answer
    if status == 429:
        raise MessageRefused(
            "rate_limited",
            retry_after=_parse_wait(response.headers.get("retry-after", "")),
        )
    if not response.is_client_error:
        raise MessageRefused(f"http_{status}")
    raise MessageRejected(str(answer.get("code") or status)[:_CODE_MAX_LENGTH])


def _parse_wait(text: str) -> timedelta:
    """Return the wait that Retry-After asks for (RFC 9110, 10.2.3), within bounds."""
    try:
        wait = (
            timedelta(seconds=min(int(text), int(_LONGEST_WAIT.total_seconds())))
            if text.isascii() and text.strip().isdigit()
            else parsedate_to_datetime(text) - timezone.now()
        )
    except (TypeError, ValueError):
        wait = timedelta()
    return min(max(wait, timedelta(seconds=1)), _LONGEST_WAIT)


def _read_body(response: httpx.Response) -> bytes:
    """Return the body, cut where it is too large to be an answer of this API."""
    content = bytearray()
    for part in response.iter_raw():
        content += part
        if len(content) > _ANSWER_MAX_BYTES:
            break
    return bytes(content)


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the TLS context, created once: loading root certificates is slow."""
    import httpx

    return httpx.create_ssl_context()
