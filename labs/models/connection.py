"""HL7 connections to labs and other systems, and the messages sent over them."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from labs.models.account import LabAccount
from labs.models.order import Order
from labs.states.connections import OutboundStatus, Transport, TransportFault
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

HOST_MAX_LENGTH = 253
USER_MAX_LENGTH = 100
FOLDER_MAX_LENGTH = 200
CONTROL_ID_MAX_LENGTH = 200


class Hl7Connection(TenantOwned):
    """The connection of a team's lab account; `account` None: the team's own system.

    An account without a row exchanges files in its folder. `host` and `port` are where
    we connect. `listen_port` is where the other side connects to us by MLLP: a port
    belongs to one connection. `peer_certificates` are the other side's, as PEM;
    `is_unencrypted` goes without TLS. `secret` is a password or an OpenSSH private key,
    encrypted; `host_key` is the server's public key.

    The rest is what the processes report: `seen_at` by `manage.py mllp`, `open_count`
    connections that are open to us, `failing_since` the first failure after the last
    success. `sender` holds the connection's outgoing messages until `sender_until`, so
    that one process sends them in order.
    """

    rules = TableRules(
        without_user="a connection of a team",
        retention="until the team removes it",
        encrypted=("secret",),
        route_parameters={"connection_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        LabAccount, on_delete=models.CASCADE, null=True, related_name="+"
    )
    transport = models.CharField(max_length=20, choices=Transport.offered)
    host = models.CharField(max_length=HOST_MAX_LENGTH, blank=True)
    port = models.PositiveIntegerField(null=True)
    listen_port = models.PositiveIntegerField(null=True)
    peer_certificates = models.TextField(blank=True)
    is_unencrypted = models.BooleanField(default=False)
    user_name = models.CharField(max_length=USER_MAX_LENGTH, blank=True)
    secret = models.TextField(blank=True)
    host_key = models.TextField(blank=True)
    incoming_folder = models.CharField(max_length=FOLDER_MAX_LENGTH, blank=True)
    outgoing_folder = models.CharField(max_length=FOLDER_MAX_LENGTH, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(null=True)
    open_count = models.PositiveIntegerField(default=0)
    last_received_at = models.DateTimeField(null=True)
    last_sent_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    fault = models.CharField(max_length=100, choices=TransportFault.offered, blank=True)
    sender = models.UUIDField(null=True)
    sender_until = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("HL7 connection")
        verbose_name_plural = gettext_lazy("HL7 connections")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "account"],
                nulls_distinct=False,
                name="hl7_connection_once_per_account",
            ),
            models.UniqueConstraint(
                fields=["listen_port"], name="hl7_connection_own_port"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Hl7OutboundMessage(TenantOwned):
    """A message for another system, sent until it is answered.

    `control_id` is its MSH-10, the same in each attempt. `content` is kept until the
    message is accepted. `answer` is MSA-1, `answer_code` ERR-3 or the like.
    """

    rules = TableRules(
        retention=RetentionRule("90 days after the answer", "labs.hl7_cleanup"),
    )

    connection = models.ForeignKey(
        Hl7Connection, on_delete=models.CASCADE, related_name="messages"
    )
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, null=True, related_name="+"
    )
    control_id = models.CharField(max_length=CONTROL_ID_MAX_LENGTH)
    content = models.BinaryField(default=bytes)
    status = models.CharField(
        max_length=100, choices=OutboundStatus.offered, default=OutboundStatus.QUEUED
    )
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    answer = models.CharField(max_length=2, blank=True)
    answer_code = models.CharField(max_length=20, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("outbound HL7 message")
        verbose_name_plural = gettext_lazy("outbound HL7 messages")
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "control_id"], name="hl7_message_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["connection", "id"],
                condition=models.Q(status="queued"),
                name="hl7_message_queued",
            ),
            models.Index(fields=["ended_at"], name="hl7_message_by_end"),
        ]

    def __str__(self) -> str:
        return str(self.pk)
