"""Pairing: a short code that an app exchanges for tokens, once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from accounts.operations.api_keys.call_limits import count_call_against_rate_limit
from accounts.operations.audit.entries import record_change
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotFound, TooMany
from portal.lib.tenancy import acting_for
from portal.lib.web.proxies import find_client_network
from users.models import PairingCode
from users.models.phones.pairing_code import TRIES_MAX
from users.operations.phones.tokens import PhoneDetails, create_phone
from users.queries import find_live_user, lock_user

if TYPE_CHECKING:
    from django.db import models

    from users.models import Phone, User
    from users.operations.phones.tokens import Tokens

# Neither 0 and O, 1, I and L, nor U, which is heard as V. Apps of the Open Wearables
# SDK take capitals and the digits from 2.
ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
LENGTH = 8
_PREFIX = 3
CODE_TTL = timedelta(minutes=10)
CODE_TTL_MAX = timedelta(hours=1)
# Of one address in a minute, with right and wrong codes.
_CALLS_A_MINUTE = 20
CODE_RETENTION = timedelta(days=1)
_SALT = "users.pairing-code"


@dataclass(frozen=True, slots=True)
class NewCode:
    """A code as its user sees it, once, and when it ends."""

    code: str
    row: PairingCode

    @property
    def expires_at(self) -> datetime:
        """Return when it ends."""
        return self.row.expires_at


@transaction.atomic
def create_pairing_code(
    *, user: User, actor: Actor, expires_at: datetime | None = None
) -> NewCode:
    """Create a code that pairs a phone with a live user; earlier ones end.

    Eight characters of an alphabet without look-alikes: 39 bits, of which five tries
    guess nothing. It lasts ten minutes, or until `expires_at`, an hour at most. Raises:
    not_found; expires_at_invalid. Source: Contract 2.2 (link.code_create); Ours: how
    long, and that a user has one code at a time.
    """
    now = timezone.now()
    ends = expires_at or now + CODE_TTL
    if not now < ends <= now + CODE_TTL_MAX:
        raise DomainError(
            "expires_at_invalid",
            _("A code lasts at most one hour."),
            "expires_at",
        )
    user = lock_user(user)
    _open_codes(user, now).update(expires_at=now)
    code = "".join(secrets.choice(ALPHABET) for _each in range(LENGTH))
    row = PairingCode(
        tenant=user.tenant,
        user=user,
        prefix=code[:_PREFIX],
        code_hash=_hash(code),
        expires_at=ends,
    )
    row.save(force_insert=True)
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="create_pairing_code",
        subject="pairing_code",
        subject_id=row.uuid,
        user_uuid=user.uuid,
    )
    return NewCode(code, row)


def redeem_pairing_code(
    *, code: str, details: PhoneDetails, address: str | None
) -> tuple[Phone, Tokens]:
    """Exchange a code for the tokens of a new phone, once.

    A wrong code counts as a try of each open code that begins alike; the fifth ends
    them. Of many who send the right one at once, one gets tokens. Raises:
    code_unknown (404), whatever is wrong with it; too_many_tries (429, of an address);
    too_many_phones. Source: Ours.
    """
    window = count_call_against_rate_limit(
        subject=f"pairing:{find_client_network(address)}", limit=_CALLS_A_MINUTE
    )
    if window.is_over:
        raise TooMany(
            "too_many_tries",
            _("Too many tries. Wait a minute."),
            wait=timedelta(seconds=window.seconds),
        )
    text = "".join(code.upper().split()).replace("-", "")
    if len(text) != LENGTH:
        raise _unknown()
    now = timezone.now()
    # The tenant is what the code says.
    alike = PairingCode.unscoped.filter(
        prefix=text[:_PREFIX],
        used_at=None,
        expires_at__gt=now,
        tries__lt=TRIES_MAX,
        tenant__team__deleted_at=None,
    ).select_related("tenant__team")
    found = None
    for row in alike:
        if constant_time_compare(row.code_hash, _hash(text)):
            found = row
    if found is None:
        alike.update(tries=F("tries") + 1)
        raise _unknown()
    tenant = found.tenant
    with acting_for(tenant), transaction.atomic():
        user = find_live_user(tenant=tenant, pk=found.user_id)
        if user is None:
            raise _unknown()
        # Of two at once the second finds it used.
        taken = PairingCode.objects.for_tenant(tenant).filter(
            pk=found.pk, used_at=None, expires_at__gt=now, tries__lt=TRIES_MAX
        )
        if not taken.update(used_at=now):
            raise _unknown()
        actor = Actor(ActorKind.SYSTEM, "phone", "phone", address)
        phone, tokens = create_phone(user=user, actor=actor, details=details)
        PairingCode.objects.for_tenant(tenant).filter(pk=found.pk).update(
            phone_id=phone.uuid
        )
    return phone, tokens


def delete_old_pairing_codes() -> int:
    """Delete codes that ended CODE_RETENTION ago, of all tenants; return how many."""
    ended = timezone.now() - CODE_RETENTION
    removed, _by_model = PairingCode.unscoped.filter(expires_at__lt=ended).delete()
    return removed


def _open_codes(user: User, now: datetime) -> models.QuerySet[PairingCode]:
    mine: models.QuerySet[PairingCode] = PairingCode.objects.for_tenant(user.tenant)
    return mine.filter(user=user, used_at=None, expires_at__gt=now)


def _hash(code: str) -> str:
    # Keyed: there are few enough codes to try them all against a plain digest.
    return salted_hmac(_SALT, code, algorithm="sha256").hexdigest()


def _unknown() -> NotFound:
    return NotFound("code_unknown", _("This code is wrong or has expired."))
