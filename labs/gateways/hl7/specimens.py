"""Samples as HL7 table 0487 names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.states.catalogue import SPECIMENS, Container, SampleType

if TYPE_CHECKING:
    from labs.models import Marker

_SPECIMENS: dict[SampleType, tuple[str, str]] = {
    SampleType.DRIED_BLOOD_SPOT: ("BLDC", "Blood capillary"),
    SampleType.ARM_COLLECTOR: ("BLDC", "Blood capillary"),
    SampleType.SERUM: ("SER", "Serum"),
    SampleType.SALIVA: ("SAL", "Saliva"),
    SampleType.URINE: ("UR", "Urine"),
    SampleType.STOOL: ("STL", "Stool"),
}
# The codes of samples that no tube says more of.
SPECIMEN_CODES = {kind: code for kind, (code, _words) in _SPECIMENS.items()}


def get_hl7_specimen(marker: Marker) -> tuple[str, str]:
    """Return code and words of the sample that a test is made from."""
    if container := Container.known(marker.container):
        return SPECIMENS[container]
    kind = SampleType.known(marker.sample_type)
    return _SPECIMENS[kind] if kind else (marker.sample_type, "")
