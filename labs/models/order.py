"""Order, its transaction, events and kit shipments. All health data."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from labs.models.account import LabAccount
from labs.models.catalogue import Lab, LabTest
from labs.models.catalogue_version import PlacedTest, build_placed_test
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import CollectionMethod
from labs.states.order_queues import ENDED_BADLY, HELD_UP
from labs.states.orders import (
    Interpretation,
    OrderOrigin,
    OrderStatusDetail,
    StatusParts,
    split_order_status,
)
from labs.states.turnaround import AT_LAB
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy
from users.models import User

if TYPE_CHECKING:
    from typing import Self
    from uuid import UUID

COMMENTS_MAX_LENGTH = 1000  # Specification 8
STATUS_MAX_LENGTH = 100


class OrderQuerySet(TenantQuerySet["Order"]):
    """Filters of orders."""

    def live(self) -> Self:
        """Return orders of users that are not deleted."""
        return self.filter(user__deleted_at=None)

    def live_among_many(self) -> Self:
        """Return the same as live(), faster where few users are deleted.

        The few are looked for once, not each order's user.
        """
        deleted = User.unscoped.filter(deleted_at__isnull=False)
        return self.exclude(user_id__in=deleted.values("pk"))

    def placed_here(self) -> Self:
        """Return the orders that are no history of another platform."""
        return self.filter(moved_from="")

    def of_user(self, user_uuid: UUID) -> Self:
        """Return the orders of one user."""
        return self.filter(user__uuid=user_uuid)

    def of_id_or_user(self, order_or_user_id: UUID) -> Self:
        """Return the order with this id, or the orders of the user with this id.

        Not by a join, in which both would be looked for beside every order.
        """
        user = User.unscoped.filter(uuid=order_or_user_id).values("pk")[:1]
        return self.filter(models.Q(pk=order_or_user_id) | models.Q(user_id=user))


class OrderTransaction(TenantOwned):
    """An order with its redraw and recreations; `id` is the wire's."""

    rules = TableRules(
        data_classes=("orders",), route_parameters={"transaction_id": "pk"}
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("users.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("order transaction")
        verbose_name_plural = gettext_lazy("order transactions")

    def __str__(self) -> str:
        return str(self.id)


class Order(TenantOwned):
    """A lab test ordered for a user (contract 6.10); `id` is the wire's.

    `status` is the full status of its last event. `patient_details`, `patient_address`,
    `shipping_address`, `physician`, `consents`, `aoe_answers` and `health_insurance`
    are the wire's shapes of contract 6.6 and 6.9; `patient_name` and `patient_dob`
    repeat what is searched and sorted by, empty until a kit is registered. `lab` is
    that of the panel. `lab_account` is None on the platform's own account;
    `account_reason` says why. `is_registrable` is a kit sent before its person is
    known. `sms_enabled` is whether its patient may be sent texts.
    `requisition_issued_at` is when the requisition's present link was made, None
    without one; `requisition_comment` is the comment as it was first printed, whatever
    the account's text has become. `activate_by` is the day a scheduled order starts,
    `due_by` and `worst_case_due_by` the days results are expected. `moved_from` names
    the platform that the order was placed on: such an order is history, no lab has it
    from here, and nothing acts on it. It is empty for all others.
    """

    rules = TableRules(data_classes=("orders",), route_parameters={"order_id": "pk"})

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("users.User", on_delete=models.PROTECT, related_name="+")
    transaction = models.ForeignKey(
        OrderTransaction, on_delete=models.PROTECT, related_name="orders"
    )
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="+"
    )
    origin = models.CharField(
        max_length=100, choices=OrderOrigin.offered, default=OrderOrigin.INITIAL
    )
    update_reason = models.CharField(max_length=100, blank=True)

    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="+")
    lab_test = models.ForeignKey(LabTest, on_delete=models.PROTECT, related_name="+")
    lab_account = models.ForeignKey(
        LabAccount, on_delete=models.PROTECT, null=True, related_name="+"
    )
    account_reason = models.CharField(max_length=100, choices=AccountReason.offered)

    method = models.CharField(max_length=100, choices=CollectionMethod.offered)
    status = models.CharField(max_length=STATUS_MAX_LENGTH)
    is_registrable = models.BooleanField(default=False)
    registered_at = models.DateTimeField(null=True)

    patient_details = models.JSONField(null=True)
    patient_address = models.JSONField(null=True)
    shipping_address = models.JSONField(null=True)
    patient_name = models.CharField(max_length=102, blank=True)
    patient_dob = models.DateField(null=True)
    recipient_name = models.CharField(max_length=150, blank=True)
    physician = models.JSONField(null=True)
    consents = models.JSONField(default=list)
    aoe_answers = models.JSONField(default=list)
    health_insurance = models.JSONField(null=True)
    health_insurance_id = models.UUIDField(null=True)

    comments = models.CharField(max_length=COMMENTS_MAX_LENGTH, blank=True)
    passthrough = models.TextField(blank=True)
    priority = models.BooleanField(default=False)
    billing_type = models.CharField(
        max_length=100, choices=Billing.offered, default=Billing.CLIENT_BILL
    )
    icd_codes = ArrayField(models.CharField(max_length=20), default=list)
    creator_member_id = models.UUIDField(null=True)
    activate_by = models.DateField(null=True)

    sms_enabled = models.BooleanField(default=True, db_default=True)

    sample_id = models.CharField(max_length=50, blank=True)
    requisition_issued_at = models.DateTimeField(null=True)
    requisition_comment = models.TextField(blank=True, db_default="")
    interpretation = models.CharField(
        max_length=100, choices=Interpretation.offered, blank=True
    )
    has_missing_results = models.BooleanField(null=True)
    due_by = models.DateField(null=True)
    worst_case_due_by = models.DateField(null=True)

    moved_from = models.CharField(max_length=50, blank=True, default="", db_default="")

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TenantManager(OrderQuerySet)
    # Whether a critical result needs acknowledgement, on orders of a list.
    has_open_alert: bool
    # The uncancelled appointment, on orders of orders_with_details.
    visit_id: UUID | None

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("order")
        verbose_name_plural = gettext_lazy("orders")
        constraints = [
            models.UniqueConstraint(
                # An order that goes on may be imported beside its history.
                fields=["lab", "sample_id"],
                condition=~models.Q(sample_id="") & models.Q(moved_from=""),
                name="order_sample_once_at_lab",
            )
        ]
        indexes = [
            # Holds what lists narrow by: any choice of filters is decided without the
            # table's wide rows.
            models.Index(
                fields=["tenant", "-created_at", "id"],
                include=[
                    "user",
                    "status",
                    "lab",
                    "lab_account",
                    "method",
                    "interpretation",
                    "sample_id",
                ],
                name="order_in_list",
            ),
            models.Index(fields=["tenant", "-updated_at"], name="order_by_update"),
            models.Index(
                fields=["tenant", "status", "-created_at"],
                include=["user", "updated_at"],
                name="order_in_status",
            ),
            models.Index(
                fields=["tenant", "sample_id"],
                condition=~models.Q(sample_id=""),
                name="order_by_sample",
            ),
            models.Index(fields=["user", "-created_at"], name="order_by_user"),
            models.Index(
                fields=["tenant", "interpretation", "-created_at"],
                include=["user", "updated_at"],
                condition=~models.Q(interpretation=""),
                name="order_in_interpretation",
            ),
            # These two hold what every page counts, the orders that need attention.
            models.Index(
                fields=["tenant", "status", "updated_at"],
                include=["id", "user"],
                condition=models.Q(
                    status__in=sorted({*HELD_UP, *ENDED_BADLY}), moved_from=""
                ),
                name="order_held_up_or_lost",
            ),
            models.Index(
                fields=["tenant", "worst_case_due_by"],
                include=["id", "user"],
                condition=models.Q(
                    status__in=sorted(AT_LAB),
                    moved_from="",
                    worst_case_due_by__isnull=False,
                ),
                name="order_due_from_lab",
            ),
            models.Index(
                fields=["activate_by"],
                condition=models.Q(activate_by__isnull=False),
                name="order_scheduled",
            ),
            # Parts of names are looked for by reading through it: an index of their
            # letters would go unused, as LIKE is not leakproof and the table is fenced.
            # By time, rows come at its end, which keeps it far smaller than the table.
            models.Index(
                fields=["tenant", "created_at", "id"],
                include=[
                    "user",
                    "lab",
                    "patient_name",
                    "patient_dob",
                    "recipient_name",
                ],
                name="order_with_patient",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def status_parts(self) -> StatusParts:
        """Return top-level status, method and low-level status."""
        return split_order_status(self.status)

    @cached_property
    def placed(self) -> PlacedTest:
        """Return the panel as the order was placed with it."""
        return build_placed_test(panel=self.lab_test, at=self.created_at)


class OrderEvent(TenantOwned):
    """A status change of an order; `id` is the wire's growing integer.

    `actor_label` and `why` say who took the step and with what words, for people.
    `occurred_at` is when it happened where somebody said so, `created_at` when it was
    recorded.
    """

    rules = TableRules(data_classes=("orders",))

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="events")
    status = models.CharField(max_length=STATUS_MAX_LENGTH)
    status_detail = models.CharField(
        max_length=100, choices=OrderStatusDetail.offered, blank=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    occurred_at = models.DateTimeField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254)
    why = models.CharField(max_length=200, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("order event")
        verbose_name_plural = gettext_lazy("order events")
        ordering = ["id"]
        indexes = [models.Index(fields=["order", "id"], name="order_event_in_order")]

    def __str__(self) -> str:
        return f"{self.order_id} {self.status}"


class Shipment(TenantOwned):
    """A shipment of a kit, to the patient or to the lab (contract 6.10)."""

    rules = TableRules(data_classes=("orders",))

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    order = models.OneToOneField(
        Order, on_delete=models.CASCADE, related_name="shipment"
    )
    outbound_tracking_number = models.CharField(max_length=100, blank=True)
    outbound_tracking_url = models.URLField(blank=True)
    outbound_courier = models.CharField(max_length=100, blank=True)
    inbound_tracking_number = models.CharField(max_length=100, blank=True)
    inbound_tracking_url = models.URLField(blank=True)
    inbound_courier = models.CharField(max_length=100, blank=True)
    notes = models.CharField(max_length=500, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("shipment")
        verbose_name_plural = gettext_lazy("shipments")

    def __str__(self) -> str:
        return str(self.id)
