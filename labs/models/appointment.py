"""Appointments, their events, and the slot places they take."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.db import models
from django.utils import timezone

from labs.models.order import Order
from labs.states.appointments import (
    ACTIVE,
    NOTES_MAX_LENGTH,
    AppointmentEventStatus,
    AppointmentProvider,
    AppointmentStatus,
    AppointmentType,
)
from labs.states.service_centers import VisitConfirmation
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class Appointment(TenantOwned):
    """An appointment of an order's patient (contract 6.18); `id` is the wire's.

    Site, address, coordinates (degrees) and zone are as they were when it was booked.
    `start_at` and `end_at` are None while a request has no time. `reference` is what
    the provider knows the booking by, `external_id` what the provider calls it.
    `confirm_by` is when a booking that waits for its provider is given up, None where
    it does not wait. `confirmed_by` is who confirms it, as its site says;
    `site_asked_at` is when the site was asked by mail, None where it was not.
    `event_data` is of its latest step.
    """

    rules = TableRules(data_classes=("orders",))

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, related_name="appointments"
    )
    type = models.CharField(max_length=100, choices=AppointmentType.offered)
    provider = models.CharField(max_length=100, choices=AppointmentProvider.offered)
    status = models.CharField(max_length=100, choices=AppointmentStatus.offered)

    site_code = models.CharField(max_length=20, blank=True)
    site_name = models.CharField(max_length=150, blank=True)
    address = models.JSONField()
    latitude = models.FloatField()
    longitude = models.FloatField()
    time_zone = models.CharField(max_length=64, blank=True)
    start_at = models.DateTimeField(null=True)
    end_at = models.DateTimeField(null=True)

    reference = models.UUIDField(default=uuid.uuid4)
    external_id = models.CharField(max_length=100, blank=True)
    notes = models.CharField(max_length=NOTES_MAX_LENGTH, blank=True)
    event_data = models.JSONField(null=True)
    cancellation_reason = models.CharField(max_length=100, blank=True)
    cancellation_note = models.CharField(max_length=NOTES_MAX_LENGTH, blank=True)
    confirm_by = models.DateTimeField(null=True)
    confirmed_by = models.CharField(
        max_length=20,
        choices=VisitConfirmation.offered,
        default=VisitConfirmation.BOOK,
        db_default=VisitConfirmation.BOOK.value,
    )
    site_asked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("appointment")
        verbose_name_plural = gettext_lazy("appointments")
        constraints = [
            models.UniqueConstraint(
                fields=["order"],
                condition=models.Q(status__in=[str(one) for one in ACTIVE]),
                name="appointment_one_active_per_order",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "start_at"], name="appointment_by_start"),
            models.Index(
                fields=["status", "confirm_by"],
                condition=models.Q(status__in=["pending", "reserved"]),
                name="appointment_unconfirmed",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_active(self) -> bool:
        """Return whether the appointment is still expected to take place."""
        return self.status in ACTIVE

    def can_reschedule(self, at: datetime) -> bool:
        """Return whether it can be rescheduled: confirmed and not started.

        Where the site confirms each visit another is booked instead.
        """
        return (
            self.status == AppointmentStatus.CONFIRMED
            and self.confirmed_by == VisitConfirmation.BOOK
            and self.start_at is not None
            and at < self.start_at
        )


class AppointmentEvent(TenantOwned):
    """A status change of an appointment; `data` is the wire's free object."""

    rules = TableRules(data_classes=("orders",))

    appointment = models.ForeignKey(
        Appointment, on_delete=models.CASCADE, related_name="events"
    )
    status = models.CharField(max_length=100, choices=AppointmentEventStatus.offered)
    data: models.JSONField[Any, Any] = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("appointment event")
        verbose_name_plural = gettext_lazy("appointment events")
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["appointment", "id"], name="appointment_event_in_order"
            )
        ]

    def __str__(self) -> str:
        return f"{self.appointment_id} {self.status}"


class SlotPlace(models.Model):
    """One taken place of a slot: by an appointment, or held for an order.

    That a slot is full is told by the unique constraint, never by a count before.
    `pool` parts those who share places: production is PRODUCTION_POOL, each sandbox has
    its own. `place` counts from 1. A hold ends at `expires_at`; one with a `reference`
    was asked of the provider and is freed only when its answer is known.
    """

    rules = TableRules(
        without_tenant="places of a site, shared by all of production",
        data_classes=("orders",),
    )

    pool = models.BigIntegerField()
    provider = models.CharField(max_length=100)
    site_code = models.CharField(max_length=20)
    start_at = models.DateTimeField()
    place = models.PositiveSmallIntegerField()
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="+")
    appointment = models.ForeignKey(
        Appointment, on_delete=models.CASCADE, null=True, related_name="places"
    )
    reference = models.UUIDField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = gettext_lazy("reserved slot")
        verbose_name_plural = gettext_lazy("reserved slots")
        constraints = [
            models.UniqueConstraint(
                fields=["pool", "provider", "site_code", "start_at", "place"],
                include=["expires_at", "reference"],
                name="slot_place_taken_once",
            ),
            models.UniqueConstraint(
                fields=["order"],
                condition=models.Q(appointment=None, reference=None),
                name="slot_place_one_hold_per_order",
            ),
            models.CheckConstraint(
                condition=models.Q(appointment=None, expires_at__isnull=False)
                | models.Q(appointment__isnull=False, expires_at=None),
                name="slot_place_held_or_booked",
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=models.Q(expires_at__isnull=False),
                name="slot_place_by_expiry",
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.site_code} {self.start_at} {self.place}"


class SandboxVisit(models.Model):
    """A booking stored by the sandbox provider.

    `answers_at` is from when on it says yes or, with `is_refused`, no.
    """

    rules = TableRules(
        without_tenant="references that the sandbox's provider was given",
        without_user="simulated bookings without personal data",
        retention=RetentionRule("90 days", "labs.forget_sandbox_visits"),
    )

    reference = models.UUIDField(primary_key=True)
    external_id = models.CharField(max_length=100)
    is_refused = models.BooleanField(default=False)
    answers_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = gettext_lazy("sandbox visit")
        verbose_name_plural = gettext_lazy("sandbox visits")

    def __str__(self) -> str:
        return self.external_id


# The pool of places that all production environments share.
PRODUCTION_POOL = 0
