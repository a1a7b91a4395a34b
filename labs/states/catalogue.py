"""Open sets of the catalogue: how samples are taken, what panels and markers are.

Must not be here: orders (labs.states.orders) or lab accounts (labs.states.accounts).
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.transitions import Transitions


class CollectionMethod(OpenChoices):
    """How the sample is taken (contract 6.3); the second part of an order's status."""

    TESTKIT = "testkit", "Test kit"
    WALK_IN_TEST = "walk_in_test", "Walk-in"
    AT_HOME_PHLEBOTOMY = "at_home_phlebotomy", "At-home phlebotomy"
    ON_SITE_COLLECTION = "on_site_collection", "On-site collection"


# Specification 8: comments go to the requisitions of these labs alone (contract 6.1).
COMMENT_LABS = frozenset({"quest", "sonora_quest", "labcorp", "bioreference"})


class SampleType(OpenChoices):
    """What is tested (contract 6.3)."""

    DRIED_BLOOD_SPOT = "dried_blood_spot", "Dried blood spot"
    ARM_COLLECTOR = "arm_collector", "Arm collector"
    SERUM = "serum", "Serum"
    SALIVA = "saliva", "Saliva"
    URINE = "urine", "Urine"
    STOOL = "stool", "Stool"


class LabTestStatus(OpenChoices):
    """Whether a panel may be ordered (contract 6.3)."""

    ACTIVE = "active", "Active"
    PENDING_APPROVAL = "pending_approval", "Waits for approval"
    INACTIVE = "inactive", "Archived"


# Contract 6.3: unarchiving returns the status held before.
LAB_TEST_MOVES: Transitions[LabTestStatus] = Transitions(
    {
        LabTestStatus.PENDING_APPROVAL: {LabTestStatus.ACTIVE, LabTestStatus.INACTIVE},
        LabTestStatus.ACTIVE: {LabTestStatus.INACTIVE},
        LabTestStatus.INACTIVE: {LabTestStatus.ACTIVE, LabTestStatus.PENDING_APPROVAL},
    }
)


class Generation(OpenChoices):
    """Who made a panel: a person, or an order with add-ons (contract 6.3)."""

    MANUAL = "manual", "Made by hand"
    AUTO = "auto", "Made for an order"


class MarkerType(OpenChoices):
    """Whether a marker is one analyte or the lab's own group (contract 6.2)."""

    BIOMARKER = "biomarker", "Biomarker"
    PANEL = "panel", "Panel"


class QuestionType(OpenChoices):
    """How a question at order entry is answered (contract 6.2)."""

    CHOICE = "choice", "One of several"
    TEXT = "text", "Text"
    NUMERIC = "numeric", "Number"
    MULTI_CHOICE = "multi_choice", "Several of several"


class ResultType(OpenChoices):
    """How a result is written (contract 6.15)."""

    NUMERIC = "numeric", "Number"
    RANGE = "range", "Range"
    COMMENT = "comment", "Comment"
    CODED_VALUE = "coded_value", "Coded value"
