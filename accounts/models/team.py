"""Organisation, Team, Tenant and Membership: the customers.

An Organisation has Teams; a Team has a Tenant for each environment; every row of
customers' data belongs to a Tenant.
"""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.states import CheckMode, Environment, Region, ReportCheck, Role
from portal.lib.languages import LANGUAGE_MAX_LENGTH
from portal.lib.table_rules import TableRules
from portal.lib.translation import gettext_lazy

NAME_MAX_LENGTH = 80  # Contract 9.1
INTEGRATION_ID_MAX_LENGTH = 256  # Contract 9.1
# Ours: contract 8.5 names a retention time and no length.
EVENT_RETENTION_DAYS = 30
EVENT_RETENTION_DAYS_MAX = 365
# Ours (spec silent): laboratories are commonly held to an hour.
CRITICAL_LIMIT_MINUTES = 60
CRITICAL_LIMIT_MINUTES_MAX = 24 * 60
# Ours (spec silent): people bring the results of the last years; what is older says
# little of a patient today, and is more often a wrong file or a misread year.
REPORT_MAX_AGE_DAYS = 3 * 365
REPORT_MAX_AGE_DAYS_MAX = 32_767
# One role or more, each of them known; no database row may say anything else.
ROLES_ARE_KNOWN = models.Q(roles__contained_by=list(Role.values)) & models.Q(
    roles__len__gt=0
)


class Organisation(models.Model):
    """A customer; its teams share members and lab accounts."""

    rules = TableRules(
        without_tenant="owns teams",
        without_user="belongs to teams and members",
        retention="permanent: the audit names erased teams",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = gettext_lazy("organization")
        verbose_name_plural = gettext_lazy("organizations")

    def __str__(self) -> str:
        return self.name


class TeamQuerySet(models.QuerySet["Team"]):
    """Query sets of teams."""

    def live(self) -> TeamQuerySet:
        """Return teams that are not deleted."""
        return self.filter(deleted_at=None)


class Team(models.Model):
    """A team; its `id` is the `team_id` on the wire.

    `integration_team_id` is what its customer's own system calls it, once in an
    organisation. `time_zone` is what its members see times in unless they chose
    another: an IANA name. `event_retention_days` is how long its events, their payloads
    and what became of their deliveries are kept. One that was deleted is kept with its
    audit; at `erased_at` all else of it was removed.
    """

    rules = TableRules(
        without_tenant="owns tenants",
        without_user="belongs to teams and members",
        retention="permanent: the audit names erased teams",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="teams"
    )
    name = models.CharField(max_length=NAME_MAX_LENGTH)
    slug = models.SlugField(max_length=80, unique=True)
    region = models.CharField(max_length=2, choices=Region.choices, default=Region.US)
    integration_team_id = models.CharField(  # noqa: DJ001 - null on the wire
        max_length=INTEGRATION_ID_MAX_LENGTH, null=True, blank=True
    )
    time_zone = models.CharField(max_length=64, default="UTC", db_default="UTC")
    event_retention_days = models.PositiveSmallIntegerField(
        default=EVENT_RETENTION_DAYS, db_default=EVENT_RETENTION_DAYS
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("team")
        verbose_name_plural = gettext_lazy("teams")
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "integration_team_id"],
                name="team_integration_id_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Tenant(models.Model):
    """A team in one environment, with the settings of contract 9.2.

    `critical_result_limit_minutes`, ours, is how long a critical result may wait for
    its acknowledgement until more people are mailed; `lab_report_review_below`, ours,
    is the confidence in percent below which a row sends its report to a reviewer by
    itself, null for never; `lab_report_second_read_percent`, ours, is how many of a
    hundred signed reports a second person reads as well; `lab_report_checks`, ours, is
    the CheckMode of each ReportCheck by name, hold where it has none, and
    `lab_report_max_age_days`, ours, the age from which a report counts as old;
    `order_approval_enabled`, ours, is whether orders wait for one of the team's
    physicians; `source_reconnect_mails_enabled`, ours, is whether users are mailed to
    connect a broken source again; `assistants_enabled`, ours, is whether assistants may
    read what their keys allow; `patient_language`, ours, is the language of what users
    are sent while they have chosen none; `user_sharing_enabled`, ours, is whether users
    may share their results from their portal. A new tenant's settings are those of
    `accounts.operations.teams.teams.create_team`: three defaults differ by
    environment.
    """

    rules = TableRules(
        without_tenant="is the tenant",
        without_user="belongs to teams and members",
        retention="permanent: the audit names erased teams",
    )

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="tenants")
    environment = models.CharField(max_length=10, choices=Environment.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    partial_webhooks_enabled = models.BooleanField(default=False)
    minor_ordering_enabled = models.BooleanField(default=False)
    order_approval_enabled = models.BooleanField(default=False, db_default=False)
    reject_duplicate_connection = models.BooleanField(default=False)
    sdk_per_device_activity_timeseries = models.BooleanField(default=False)
    lab_tests_patient_sms_communication_enabled = models.BooleanField(default=True)
    lab_tests_patient_email_communication_enabled = models.BooleanField(default=True)
    critical_result_notification_email = models.EmailField(null=True, blank=True)  # noqa: DJ001 - null on the wire
    critical_result_limit_minutes = models.PositiveSmallIntegerField(
        default=CRITICAL_LIMIT_MINUTES, db_default=CRITICAL_LIMIT_MINUTES
    )
    brand_information = models.JSONField(null=True, blank=True)
    logo_url = models.URLField(null=True, blank=True)  # noqa: DJ001 - null on the wire
    lab_report_parsing_enabled = models.BooleanField(default=False)
    lab_report_human_review_enabled = models.BooleanField(default=False)
    lab_report_review_below = models.PositiveSmallIntegerField(null=True, blank=True)
    lab_report_second_read_percent = models.PositiveSmallIntegerField(
        default=0, db_default=0
    )
    lab_report_checks = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    lab_report_max_age_days = models.PositiveSmallIntegerField(
        default=REPORT_MAX_AGE_DAYS, db_default=REPORT_MAX_AGE_DAYS
    )
    early_psc_booking_enabled = models.BooleanField(default=False)
    source_reconnect_mails_enabled = models.BooleanField(
        default=False, db_default=False
    )
    assistants_enabled = models.BooleanField(default=False, db_default=False)
    patient_language = models.CharField(
        max_length=LANGUAGE_MAX_LENGTH, default="en", db_default="en"
    )
    user_sharing_enabled = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = gettext_lazy("environment")
        verbose_name_plural = gettext_lazy("environments")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "environment"], name="tenant_once_per_environment"
            )
        ]

    def __str__(self) -> str:
        return f"{self.team.slug} {self.environment}"

    @property
    def is_sandbox(self) -> bool:
        """Return whether demo connections, simulation and the user cap apply."""
        return self.environment == Environment.SANDBOX

    def get_report_check_mode(self, check: ReportCheck) -> CheckMode:
        """Return what a failed check of a lab report does; hold by default."""
        return CheckMode(self.lab_report_checks.get(check, CheckMode.HOLD))


class Membership(models.Model):
    """A member in a team, with one role or several.

    `last_seen_at` is when they last opened one of its pages, to a few minutes.
    """

    rules = TableRules(
        without_tenant="belongs to a team, in both environments",
        without_user="belongs to teams and members",
        retention="until the member leaves the team",
        route_parameters={"member_id": "member_id"},
        team_lookup="team",
    )

    member = models.ForeignKey(
        "accounts.Member", on_delete=models.CASCADE, related_name="memberships"
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="memberships")
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = gettext_lazy("membership")
        verbose_name_plural = gettext_lazy("memberships")
        constraints = [
            models.UniqueConstraint(
                fields=["member", "team"], name="membership_once_per_team"
            ),
            models.CheckConstraint(
                condition=ROLES_ARE_KNOWN, name="membership_roles_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.member_id} in {self.team_id}"
