"""Sample: one value of a timeseries, and the dictionaries of its codes.

Only the store (users.store.samples) reads or writes samples.
"""

from __future__ import annotations

from django.db import models

from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from users.models.user import User

# Ours: longer than any name of a lead, an allergen or an antigen.
TYPE_MAX_LENGTH = 100
SPORT_MAX_LENGTH = 100


class Sample(models.Model):
    """One value of a user's series at one time (contract D21: the key).

    `ts` is the start, `duration` its seconds (0 for a point), `tz_offset` seconds east
    of UTC. `series` is resource and type, `feed` a number of Feed, `origin` one of
    Origin or 0 for none. The table is partitioned by month (users.store.partitions)
    and its key covers all columns; migration 0003 makes what Django has no words for.
    No foreign keys: rows are free to move to other machines with their user.
    """

    rules = TableRules(
        without_tenant="of a user, who is fenced; only the store touches it",
        erasure=ErasureRule(("user_id",), by_key=True),
        data_classes=("samples",),
    )

    pk = models.CompositePrimaryKey("user_id", "series", "feed", "ts")
    ts = models.DateTimeField()
    user_id = models.BigIntegerField()
    value = models.FloatField()
    origin = models.IntegerField()
    tz_offset = models.IntegerField()
    duration = models.IntegerField()
    series = models.SmallIntegerField()
    feed = models.SmallIntegerField()

    def __str__(self) -> str:
        return f"{self.series} at {self.ts}"


class PackedDay(models.Model):
    """Samples of a user's series and feed of one closed UTC day, in one row.

    `payload` holds them (users.store.packed.codec of version `codec`), `checksum` is
    its CRC-32. `total`, `low` and `high` are of the values, `longest` is the greatest
    duration, `last_tz_offset` the offset of the last. A sample here is no Sample. The
    table is not partitioned: at 3 bytes a sample it stays small, and its key begins
    with the user, so that it can be spread by user.
    """

    rules = TableRules(
        without_tenant="as users.Sample",
        erasure=ErasureRule(("user_id",), by_key=True),
        data_classes=("samples",),
    )

    pk = models.CompositePrimaryKey("user_id", "series", "feed", "day")
    # Widest columns first, as in users_sample.
    user_id = models.BigIntegerField()
    first = models.DateTimeField()
    last = models.DateTimeField()
    total = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    checksum = models.IntegerField()
    count = models.IntegerField()
    longest = models.IntegerField()
    last_tz_offset = models.IntegerField()
    day = models.DateField()
    series = models.SmallIntegerField()
    feed = models.SmallIntegerField()
    codec = models.SmallIntegerField()
    payload = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.series} of {self.day}"


class SampleExtra(models.Model):
    """Extra fields of the few samples that have any, by the sample's key."""

    rules = TableRules(
        without_tenant="as users.Sample",
        erasure=ErasureRule(("user_id",), by_key=True),
        data_classes=("samples",),
    )

    pk = models.CompositePrimaryKey("user_id", "series", "feed", "ts")
    user_id = models.BigIntegerField()
    series = models.SmallIntegerField()
    feed = models.SmallIntegerField()
    ts = models.DateTimeField()
    extra = models.JSONField()

    def __str__(self) -> str:
        return f"{self.series} at {self.ts}"


class Feed(TenantOwned):
    """A provider and source type in a tenant's data.

    Numbers count from 1 in each tenant, so that no tenant can use up another's.
    """

    rules = TableRules(
        without_fence="a dictionary of samples, read with every batch of them",
        without_user="dictionary of a tenant, used to encode samples",
    )

    number = models.SmallIntegerField()
    provider = models.CharField(max_length=50)
    source_type = models.CharField(max_length=50)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="feed_number"),
            models.UniqueConstraint(
                fields=["tenant", "provider", "source_type"], name="feed_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.source_type}"


class Series(TenantOwned):
    """A type in a tenant's data, of a resource with open types.

    Numbers count from OPEN_SERIES_FIRST in each tenant; those below are of resources
    and closed types, fixed in code.
    """

    rules = TableRules(
        without_fence="as users.Feed",
        without_user="dictionary of a tenant, used to encode samples",
    )

    number = models.SmallIntegerField()
    resource = models.CharField(max_length=50)
    type = models.CharField(max_length=TYPE_MAX_LENGTH)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("series")
        verbose_name_plural = gettext_lazy("series")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="series_number"),
            models.UniqueConstraint(
                fields=["tenant", "resource", "type"], name="series_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resource} {self.type}"


class Origin(TenantOwned):
    """The origin of a user's samples: app, device and workout.

    Numbers count from 1 for each user; 0 stands for none of these.
    """

    rules = TableRules(
        without_fence="as users.Feed",
        erasure=ErasureRule(("user_id",), by_key=True),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="origins",
        db_constraint=False,
        db_index=False,
    )
    number = models.IntegerField()
    app_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - the wire's null
    device_id = models.UUIDField(null=True)
    workout_id = models.UUIDField(null=True)
    sport = models.CharField(max_length=SPORT_MAX_LENGTH, null=True)  # noqa: DJ001 - the wire's null

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(fields=["user", "number"], name="origin_number"),
            models.UniqueConstraint(
                fields=["user", "app_id", "device_id", "workout_id", "sport"],
                nulls_distinct=False,
                name="origin_once",
            ),
        ]

    def __str__(self) -> str:
        return str(self.number)
