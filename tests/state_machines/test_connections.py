"""Sources of a user: connected, broken, paused, resumed, ended, in any order."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.state_machines.machine import (
    Machine,
    efforts,
    nothing_changes,
    refusal_of,
    walk,
)
from users.models import Connection, ConnectionEntry
from users.operations.sources.connections import (
    mark_connection_failed,
    restore_failed_connection,
)
from users.operations.sources.pausing import pause_source, resume_source
from users.operations.sources.sources import connect_source, ensure_source_connected
from users.states.connections import ConnectionFault

PROVIDERS = st.sampled_from(("oura", "fitbit"))


class ConnectionMachine(Machine):
    """Two sources of one user.

    The model, from contract 2.2, 2.4 and 8.2: a source is not connected, `connected`,
    `error` or `paused`. A new connection sends provider.connection.created once, a
    break of a working one provider.connection.error once; nothing else sends. A break
    while paused is none, and only a member's resume or a new connection ends a pause.
    """

    def __init__(self, tenant, api) -> None:
        super().__init__()
        self.tenant, self.api = tenant, api

    @initialize()
    def begin(self) -> None:
        self.user = make_user(tenant=self.tenant)
        self.is_deleted = False
        self.status: dict[str, str] = {}
        self.sent: list[tuple[str, str]] = []

    def live(self, provider):
        rows = Connection.objects.for_tenant(self.tenant)
        found = rows.filter(user=self.user, provider=provider).order_by("-id").first()
        if found is not None:
            found.user, self.user.tenant = self.user, self.tenant
        return found

    def written(self):
        rows = ConnectionEntry.objects.for_tenant(self.tenant)
        return len(emitted(self.tenant)), rows.count()

    def act(self, provider, becomes, event, refusal, operation, **inputs):
        """Do it; `becomes` None: nothing is written; a deleted user refuses all."""
        self.wait(minutes=1)
        refusal = "not_found" if self.is_deleted else refusal

        def run():
            return operation(user=self.user, actor=ACTOR, provider=provider, **inputs)

        if refusal or becomes == self.status.get(provider):
            with nothing_changes(self.written):
                assert refusal_of(run) == refusal
            return
        assert refusal_of(run) is None
        self.status[provider] = becomes
        if event:
            self.sent.append((f"provider.connection.{event}", provider))

    @rule(provider=PROVIDERS)
    def connect(self, provider) -> None:
        event = None if self.status.get(provider) else "created"
        self.act(provider, "connected", event, None, connect_source)

    @rule(provider=PROVIDERS, is_history=st.booleans())
    def send_data(self, provider, is_history) -> None:
        """Data mends what is broken, unless it is old; a pause stays."""
        if self.is_deleted:
            return
        known = self.status.get(provider)
        stays = known == "paused" or (known == "error" and is_history)
        self.act(
            provider,
            known if stays else "connected",
            None if known else "created",
            None,
            ensure_source_connected,
            is_history=is_history,
        )

    @rule(provider=PROVIDERS)
    def pause(self, provider) -> None:
        missing = None if self.status.get(provider) else "source_not_connected"
        self.act(provider, "paused", None, missing, pause_source)

    @rule(provider=PROVIDERS)
    def resume(self, provider) -> None:
        known = self.status.get(provider)
        missing = None if known else "source_not_connected"
        becomes = "connected" if known == "paused" else known
        self.act(provider, becomes, None, missing, resume_source)

    @rule(provider=PROVIDERS, fault=st.sampled_from(ConnectionFault))
    def break_off(self, provider, fault) -> None:
        self.wait(minutes=1)
        if (connection := self.live(provider)) is None:
            return

        def run():
            return mark_connection_failed(
                connection=connection, actor=ACTOR, fault=fault
            )

        if self.is_deleted or self.status.get(provider) != "connected":
            with nothing_changes(self.written):
                assert refusal_of(run) == ("not_found" if self.is_deleted else None)
            return
        assert refusal_of(run) is None
        self.status[provider] = "error"
        self.sent.append(("provider.connection.error", provider))

    @rule(provider=PROVIDERS)
    def mend(self, provider) -> None:
        self.wait(minutes=1)
        if (connection := self.live(provider)) is None:
            return

        def run():
            return restore_failed_connection(connection=connection, actor=ACTOR)

        if self.is_deleted or self.status.get(provider) != "error":
            with nothing_changes(self.written):
                assert refusal_of(run) == ("not_found" if self.is_deleted else None)
            return
        assert refusal_of(run) is None
        self.status[provider] = "connected"

    @rule(provider=PROVIDERS)
    def disconnect(self, provider) -> None:
        self.wait(minutes=1)
        if self.status.get(provider):
            reply = self.api.delete(f"/v2/user/{self.user.uuid}/{provider}")
            assert reply.status_code == 200
            del self.status[provider]
            return
        with nothing_changes(self.written):
            reply = self.api.delete(f"/v2/user/{self.user.uuid}/{provider}")
            assert reply.status_code == 404

    @rule()
    def delete_or_bring_back(self) -> None:
        """A deleted user's sources end at once and do not come back with it."""
        self.wait(minutes=1)
        if self.is_deleted:
            path = f"/v2/user/undo_delete?user_id={self.user.uuid}"
            assert self.api.post(path).status_code == 200
        else:
            assert self.api.delete(f"/v2/user/{self.user.uuid}").status_code == 200
            self.status = {}
        self.is_deleted = not self.is_deleted

    @invariant()
    def it_is_what_the_contract_says(self) -> None:
        if not hasattr(self, "user"):
            return
        reply = self.api.get(f"/v2/user/providers/{self.user.uuid}")
        assert reply.status_code == (404 if self.is_deleted else 200)
        if not self.is_deleted:
            shown = {each["slug"]: each for each in reply.json()["providers"]}
            assert {slug: one["status"] for slug, one in shown.items()} == self.status
            # A fault goes when the source works again.
            for one in shown.values():
                if one["status"] == "connected":
                    assert one["error_details"] is None
                if one["status"] == "error":
                    assert one["error_details"]["errored_at"]
        sent = [
            (envelope["event_type"], _provider_of(envelope["data"]))
            for envelope in emitted(self.tenant)
            if envelope["event_type"].startswith("provider.connection.")
        ]
        assert sent == self.sent


def _provider_of(data):
    """The slug: in `created` the provider is a badge (contract 8.2)."""
    provider = data["provider"]
    return provider if isinstance(provider, str) else provider["slug"]


@efforts(walks=6, steps=20)
@pytest.mark.django_db
def test_a_source_is_what_the_contract_says(effort, alice_tenant, alice_api):
    class Connections(ConnectionMachine):
        def __init__(self) -> None:
            super().__init__(alice_tenant, alice_api)

    walk(Connections, effort)
