from __future__ import annotations

import stat

import pytest
from django.core.management import CommandError, call_command

from accounts.webhooks.management.commands.listen import find_secrets_by_port
from accounts.webhooks.operations.endpoints import (
    delete_endpoint,
    reveal_signing_secret,
    rotate_signing_secret,
)
from accounts.webhooks.signing import decode_signing_secret
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint

pytestmark = pytest.mark.django_db


def key_of(endpoint):
    return decode_signing_secret(reveal_signing_secret(endpoint=endpoint, actor=ACTOR))


def test_the_keys_are_those_of_live_endpoints_at_this_port(
    alice_tenant, charlie_tenant, settings
):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    mine = make_endpoint(tenant=alice_tenant, url="http://127.0.0.1:9000/a")
    hers = make_endpoint(tenant=charlie_tenant, url="http://127.0.0.1:9000/b")
    gone = make_endpoint(tenant=alice_tenant, url="http://127.0.0.1:9000/c")
    make_endpoint(tenant=alice_tenant, url="http://127.0.0.1:9001/")
    make_endpoint(tenant=alice_tenant, url="https://hooks.customer.example:9000/")
    delete_endpoint(endpoint=gone, actor=ACTOR)
    old = key_of(mine)
    mine = rotate_signing_secret(endpoint=mine, actor=ACTOR)

    assert find_secrets_by_port(9000) == [key_of(hers), key_of(mine), old]


def test_a_secret_that_is_none_is_refused():
    with pytest.raises(CommandError, match="--secret"):
        call_command("listen", "--port", "9000", "--secret", "whsec_short")


def test_a_port_that_can_not_be_had_is_refused():
    with pytest.raises(CommandError, match="port 70000"):
        call_command("listen", "--port", "70000")


@pytest.mark.parametrize("before", [None, 0o644], ids=["new", "of before"])
def test_what_is_written_is_its_owner_s_alone(tmp_path, before):
    log = tmp_path / "webhooks.log"
    if before is not None:
        log.write_text("earlier\n")
        log.chmod(before)

    with pytest.raises(CommandError, match="port 70000"):
        call_command("listen", "--port", "70000", "--output", str(log))

    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text() == ("" if before is None else "earlier\n")


def test_a_file_that_can_not_be_written_is_refused(tmp_path):
    with pytest.raises(CommandError, match="No such file"):
        call_command("listen", "--port", "9000", "--output", f"{tmp_path}/none/log")
