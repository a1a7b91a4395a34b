"""Service centers of labs, where samples are collected."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from labs.models.catalogue import Lab
from labs.states.service_centers import VisitConfirmation
from portal.lib.table_rules import TableRules
from portal.lib.translation import gettext_lazy


class ServiceCenter(models.Model):
    """A patient service center (contract 6.17), of a lab.

    `hours` are spans by weekday on the center's own clock
    (labs.states.service_centers), `time_zone` is of the IANA database, `places` is how
    many visits fit one slot. `confirmed_by` says who confirms a visit there, `email` is
    where the center is asked by mail. A center that left the lab's directory stays,
    inactive: appointments name it.
    """

    rules = TableRules(
        without_tenant="as labs.Lab",
        without_user="reference data, of the installation or of a team",
        owner_lookup="lab__owner",
    )

    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="+")
    site_code = models.CharField(max_length=20)
    name = models.CharField(max_length=150)
    first_line = models.CharField(max_length=200)
    second_line = models.CharField(max_length=200, blank=True)
    city = models.CharField(max_length=100)
    state = models.CharField(max_length=2)
    zip_code = models.CharField(max_length=10)
    phone_number = models.CharField(max_length=20, blank=True)
    fax_number = models.CharField(max_length=20, blank=True)
    website = models.URLField(blank=True)
    latitude = models.FloatField(
        validators=[MinValueValidator(-90), MaxValueValidator(90)]
    )
    longitude = models.FloatField(
        validators=[MinValueValidator(-180), MaxValueValidator(180)]
    )
    time_zone = models.CharField(max_length=64)
    hours = models.JSONField(default=dict)
    capabilities = ArrayField(models.CharField(max_length=100), blank=True)
    bill_types = ArrayField(models.CharField(max_length=100))
    confirmed_by = models.CharField(
        max_length=20,
        choices=VisitConfirmation.offered,
        default=VisitConfirmation.BOOK,
        db_default=VisitConfirmation.BOOK.value,
    )
    email = models.EmailField(blank=True, db_default="")
    places = models.PositiveSmallIntegerField(default=1)
    is_active = models.BooleanField(default=True)

    class Meta:
        verbose_name = gettext_lazy("service center")
        verbose_name_plural = gettext_lazy("service centers")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "site_code"], name="service_center_once_per_site_code"
            )
        ]
        indexes = [
            models.Index(
                fields=["lab", "latitude"],
                condition=models.Q(is_active=True),
                name="service_center_by_latitude",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.site_code})"
