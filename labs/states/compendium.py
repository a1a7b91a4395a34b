"""Choices of compendium searches and conversions."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class SearchMode(OpenChoices):
    """What a search of the compendium answers (contract 10, the typed client)."""

    CANONICAL = "canonical", gettext_lazy("Sets of results")
    CROSSWALK = "crosswalk", gettext_lazy("Tests of each lab")


class Relation(OpenChoices):
    """How a test of one lab stands for one of another. Source: Ours."""

    EXACT = "exact", gettext_lazy("Same results")
    EQUIVALENT = "equivalent", gettext_lazy("Same analytes")
    BROADER = "broader", gettext_lazy("More results")
    NARROWER = "narrower", gettext_lazy("Part of the results")
    OVERLAPPING = "overlapping", gettext_lazy("Some of the results")
    SAME_NAME = "same_name", gettext_lazy("Same name only")


class ConversionReason(OpenChoices):
    """What speaks against a candidate, or changes with it. Source: Ours."""

    METHOD_OR_UNIT_DIFFERS = (
        "method_or_unit_differs",
        gettext_lazy("Another method or unit"),
    )
    ADDS_RESULTS = "adds_results", gettext_lazy("Adds results")
    LACKS_RESULTS = "lacks_results", gettext_lazy("Lacks results")
    RESULTS_WITHOUT_LOINC = (
        "results_without_loinc",
        gettext_lazy("Results without LOINC codes"),
    )
    SAMPLE_DIFFERS = "sample_differs", gettext_lazy("Another sample")
    TUBE_DIFFERS = "tube_differs", gettext_lazy("Another tube")
    FASTING_DIFFERS = "fasting_differs", gettext_lazy("Fasting changes")
    PRICE_DIFFERS = "price_differs", gettext_lazy("Another price")
