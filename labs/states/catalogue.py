"""Choices of the catalog: collection methods, samples, panels and markers."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class CollectionMethod(OpenChoices):
    """How the sample is collected (contract 6.3); second part of an order's status."""

    TESTKIT = "testkit", gettext_lazy("Test kit")
    WALK_IN_TEST = "walk_in_test", gettext_lazy("Walk-in")
    AT_HOME_PHLEBOTOMY = "at_home_phlebotomy", gettext_lazy("At-home phlebotomy")
    ON_SITE_COLLECTION = "on_site_collection", gettext_lazy("On-site collection")


# Specification 8: comments go to the requisitions of these labs alone (contract 6.1).
COMMENT_LABS = frozenset({"quest", "sonora_quest", "labcorp", "bioreference"})


class SampleType(OpenChoices):
    """The sample a test needs (contract 6.3)."""

    DRIED_BLOOD_SPOT = "dried_blood_spot", gettext_lazy("Dried blood spot")
    ARM_COLLECTOR = "arm_collector", gettext_lazy("Arm collector")
    SERUM = "serum", gettext_lazy("Serum")
    SALIVA = "saliva", gettext_lazy("Saliva")
    URINE = "urine", gettext_lazy("Urine")
    STOOL = "stool", gettext_lazy("Stool")


class Container(OpenChoices):
    """The tube that venous blood is drawn into; other samples have their kit's.

    Source: Ours: the contract's sample types only know serum. docs/reference/tubes.md
    says which catalogs were compared.
    """

    SERUM_GEL = "serum_gel", gettext_lazy("Gold (gel), serum")
    SERUM_PLAIN = "serum_plain", gettext_lazy("Red (no gel), serum")
    EDTA = "edta", gettext_lazy("Lavender (EDTA), whole blood")
    CITRATE = "citrate", gettext_lazy("Light blue (citrate), plasma")
    TRACE_SERUM = "trace_serum", gettext_lazy("Royal blue (no additive), serum")
    TRACE_EDTA = "trace_edta", gettext_lazy("Royal blue (EDTA), whole blood")


# What the laboratory is sent from a tube: HL7 table 0487, code and words.
SPECIMENS: dict[Container, tuple[str, str]] = {
    Container.SERUM_GEL: ("SER", "Serum"),
    Container.SERUM_PLAIN: ("SER", "Serum"),
    Container.EDTA: ("BLD", "Whole blood"),
    Container.CITRATE: ("PLAS", "Plasma"),
    Container.TRACE_SERUM: ("SER", "Serum"),
    Container.TRACE_EDTA: ("BLD", "Whole blood"),
}


class LabTestStatus(OpenChoices):
    """Whether a panel may be ordered (contract 6.3)."""

    ACTIVE = "active", gettext_lazy("Active")
    PENDING_APPROVAL = "pending_approval", gettext_lazy("Pending approval")
    INACTIVE = "inactive", gettext_lazy("Archived")


# Contract 6.3: unarchiving returns the status held before.
LAB_TEST_MOVES: Transitions[LabTestStatus] = Transitions(
    {
        LabTestStatus.PENDING_APPROVAL: {LabTestStatus.ACTIVE, LabTestStatus.INACTIVE},
        LabTestStatus.ACTIVE: {LabTestStatus.INACTIVE},
        LabTestStatus.INACTIVE: {LabTestStatus.ACTIVE, LabTestStatus.PENDING_APPROVAL},
    }
)


class Generation(OpenChoices):
    """How a panel was created: by a person, or for an order with add-ons (6.3)."""

    MANUAL = "manual", gettext_lazy("Created manually")
    AUTO = "auto", gettext_lazy("Created for an order")


class MarkerType(OpenChoices):
    """Whether a marker is one analyte or the lab's own group (contract 6.2)."""

    BIOMARKER = "biomarker", gettext_lazy("Biomarker")
    PANEL = "panel", gettext_lazy("Panel")


class QuestionType(OpenChoices):
    """The type of answer to an order entry question (contract 6.2)."""

    CHOICE = "choice", gettext_lazy("Single choice")
    TEXT = "text", gettext_lazy("Text")
    NUMERIC = "numeric", gettext_lazy("Number")
    MULTI_CHOICE = "multi_choice", gettext_lazy("Multiple choice")


class ResultType(OpenChoices):
    """The type of a result's text (contract 6.15)."""

    NUMERIC = "numeric", gettext_lazy("Number")
    RANGE = "range", gettext_lazy("Range")
    COMMENT = "comment", gettext_lazy("Comment")
    CODED_VALUE = "coded_value", gettext_lazy("Coded value")


class Storage(OpenChoices):
    """How a sample is kept until it is tested. Source: Ours: as catalogs print it."""

    ROOM_TEMPERATURE = "room_temperature", gettext_lazy("Room temperature")
    REFRIGERATED = "refrigerated", gettext_lazy("Refrigerated")
    FROZEN = "frozen", gettext_lazy("Frozen")


class ChangeKind(OpenChoices):
    """What an update of the catalogue does with a row."""

    ADDED = "added", gettext_lazy("Added")
    CHANGED = "changed", gettext_lazy("Changed")
    RETIRED = "retired", gettext_lazy("Retired")
    RESTORED = "restored", gettext_lazy("Restored")


class PriceComponent(OpenChoices):
    """A charge of an order (contract section 10, the client's models)."""

    LAB_CHARGE = "lab_charge", gettext_lazy("Lab")
    MOBILE_PHLEBOTOMY_CHARGE = "mobile_phlebotomy_charge", gettext_lazy("Visit at home")
    DELIVERED_KIT_CHARGE = "delivered_kit_charge", gettext_lazy("Delivered kit")


# What an order costs beside the lab; visits to a service center cost nothing more
# (contract 6.18) and on site the team collects itself.
CHARGE_OF_METHOD: dict[str, PriceComponent] = {
    CollectionMethod.AT_HOME_PHLEBOTOMY: PriceComponent.MOBILE_PHLEBOTOMY_CHARGE,
    CollectionMethod.TESTKIT: PriceComponent.DELIVERED_KIT_CHARGE,
}
