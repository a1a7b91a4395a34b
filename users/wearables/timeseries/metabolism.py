"""Timeseries of what is eaten, drunk and injected, and of the blood (contract 5.2)."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from users.states import (
    BolusPurpose,
    CholesterolKind,
    DeliveryForm,
    DeliveryMode,
    InsulinKind,
)
from users.wearables.readings import Field
from users.wearables.timeseries.resources import Aggregation, Group, TimeseriesResource
from users.wearables.values import Choice

METABOLISM = (
    TimeseriesResource(
        number=22,
        slug="glucose",
        name=gettext_lazy("Glucose"),
        description="Glucose in blood or tissue",
        group=Group.METABOLISM,
        unit="mmol/L",
        aggregation=Aggregation.MEAN,
        high=1000,
    ),
    TimeseriesResource(
        number=31,
        slug="insulin_injection",
        name=gettext_lazy("Insulin"),
        description="Insulin injected, by how it acts",
        group=Group.METABOLISM,
        unit="unit",
        is_unit_fixed=True,
        is_interval=True,
        types={InsulinKind.RAPID_ACTING: 1, InsulinKind.LONG_ACTING: 2},
        extras=(
            Field("delivery_mode", Choice(DeliveryMode)),
            Field("delivery_form", Choice(DeliveryForm)),
            Field("bolus_purpose", Choice(BolusPurpose)),
        ),
        aggregation=Aggregation.SUM,
    ),
    TimeseriesResource(
        number=13,
        slug="carbohydrates",
        name=gettext_lazy("Carbohydrates"),
        description="Carbohydrates eaten",
        group=Group.METABOLISM,
        unit="g",
        is_interval=True,
        aggregation=Aggregation.SUM,
    ),
    TimeseriesResource(
        number=46,
        slug="water",
        name=gettext_lazy("Water"),
        description="Water drunk",
        group=Group.METABOLISM,
        unit="ml",
        aggregation=Aggregation.SUM,
    ),
    TimeseriesResource(
        number=10,
        slug="caffeine",
        name=gettext_lazy("Caffeine"),
        description="Caffeine taken in",
        group=Group.METABOLISM,
        unit="g",
        is_interval=True,
        aggregation=Aggregation.SUM,
    ),
    TimeseriesResource(
        number=14,
        slug="cholesterol",
        name=gettext_lazy("Cholesterol"),
        description="Cholesterol and triglycerides in the blood, by kind",
        group=Group.METABOLISM,
        unit="mmol/L",
        types={
            CholesterolKind.LDL: 1,
            CholesterolKind.HDL: 2,
            CholesterolKind.TOTAL: 3,
            CholesterolKind.TRIGLYCERIDES: 4,
        },
        aggregation=Aggregation.MEAN,
        high=1000,
    ),
    TimeseriesResource(
        number=28,
        slug="ige",
        name=gettext_lazy("IgE"),
        description="Immunoglobulin E in the blood; the type says against what",
        group=Group.METABOLISM,
        unit="FSU",
        has_open_type=True,
        aggregation=Aggregation.MEAN,
    ),
    TimeseriesResource(
        number=29,
        slug="igg",
        name=gettext_lazy("IgG"),
        description="Immunoglobulin G in the blood; the type says against what",
        group=Group.METABOLISM,
        unit="FSU",
        has_open_type=True,
        aggregation=Aggregation.MEAN,
    ),
)
