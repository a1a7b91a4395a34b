"""Count a passkey's signatures, so that a copy of it is noticed."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

_COUNT = "sign_count"


@transaction.atomic
def is_next_passkey_signature(*, passkey: Authenticator, count: int) -> bool:
    """Record the count of a verified signature; False if it does not follow the last.

    `count` is what the device says it has signed; one that never counts says 0 each
    time, as do passkeys that devices share. Where either of both counts, the new one
    has to be higher: else two devices hold the key. Source: Web Authentication 3, 7.2,
    step 22, which leaves open to refuse; Ours: refused.
    """
    kept = Authenticator.objects.select_for_update().get(pk=passkey.pk)
    last = kept.data.get(_COUNT)
    if last is None:
        last = kept.wrap().authenticator_data.counter
    if (count or last) and count <= last:
        return False
    if count != last or _COUNT not in kept.data:
        kept.data[_COUNT] = count
        kept.save(update_fields=["data"])
    passkey.data = kept.data
    return True
