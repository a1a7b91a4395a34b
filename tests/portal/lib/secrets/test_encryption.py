from __future__ import annotations

import pytest

from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)

OLD, NEW = "an old key of many letters", "a new key of many letters"


def test_a_secret_comes_back_and_is_not_seen(settings):
    settings.ENCRYPTION_KEYS = [NEW]

    kept = encrypt_secret("JBSWY3DPEHPK3PXP")

    assert "JBSWY3DPEHPK3PXP" not in kept
    assert decrypt_secret(kept) == "JBSWY3DPEHPK3PXP"


def test_an_older_key_still_opens_what_it_closed(settings):
    settings.ENCRYPTION_KEYS = [OLD]
    kept = encrypt_secret("secret")

    settings.ENCRYPTION_KEYS = [NEW, OLD]

    assert decrypt_secret(kept) == "secret"


def test_without_keys_of_its_own_the_servers_key_is_used(settings):
    settings.ENCRYPTION_KEYS, settings.SECRET_KEY = [], OLD
    kept = encrypt_secret("secret")

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]

    assert decrypt_secret(kept) == "secret"


@pytest.mark.parametrize("kept", ["", "no token", "gAAAAABmF"])
def test_what_no_key_opens_is_refused_and_not_quoted(settings, kept):
    settings.ENCRYPTION_KEYS = [NEW]

    with pytest.raises(UnreadableSecret) as refused:
        decrypt_secret(kept)

    assert kept == "" or kept not in str(refused.value)


def test_a_secret_of_a_dropped_key_is_refused(settings):
    settings.ENCRYPTION_KEYS = [OLD]
    kept = encrypt_secret("secret")

    settings.ENCRYPTION_KEYS = [NEW]

    with pytest.raises(UnreadableSecret):
        decrypt_secret(kept)
