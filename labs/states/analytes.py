"""What a LOINC code measures, apart from how: the codes that stand for one another."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WITH_PROPERTY = re.compile(
    r"(?P<component>[^\[]+?)\s*\[(?P<property>[^\]]*)\]"
    r"(?:\s+(?:in|of)\s+(?P<system>.+?))??"
    r"(?:\s+(?P<method>(?:by|using|Estimated from)\s.+))?",
)
_WITHOUT_PROPERTY = re.compile(
    r"(?P<component>.+?)(?P<property>)"
    r"(?:\s+(?:in|of)\s+(?P<system>(?:(?!\s(?:in|of)\s).)+?))?"
    r"(?:\s+(?P<method>(?:by|using|Estimated from)\s.+))?",
)
# Kinds of quantity whose values convert into one another, by the first words of a
# property as LOINC's long common names print it.
_KINDS = {
    "mass or moles": "amount",
    "mass": "amount",
    "moles": "amount",
}
_SYSTEMS = {
    "serum": "serum or plasma",
    "plasma": "serum or plasma",
    "serum, plasma or blood": "serum or plasma",
    "serum or plasma or blood": "serum or plasma",
    "unspecified specimen": "specimen",
}
# Methods by which a test answers another question: CRP for inflammation and, by high
# sensitivity, for the heart's risk; a drug's screen and its confirmation.
_DECISIVE = re.compile(r"(?i)sensitiv|screen|confirm")


@dataclass(frozen=True, slots=True)
class Analyte:
    """Component, kind of quantity and sample of a LOINC code.

    `method` is left out of comparisons, but for one by which a test answers another
    question: that is in `component`.
    """

    component: str
    kind: str
    system: str


def parse_analyte(code: str, name: str) -> tuple[Analyte, str]:
    """Return what a code measures by its long common name, and its method.

    Without a name it measures itself. Mass and moles a volume are one amount, serum and
    plasma one sample. Source: LOINC Users' Guide, long common names; Ours: what is
    alike.
    """
    text = " ".join(name.split())
    pattern = _WITH_PROPERTY if "[" in text else _WITHOUT_PROPERTY
    found = pattern.fullmatch(text)
    if found is None:
        return Analyte(code, "", ""), ""
    top, slash, bottom = found["property"].lower().partition("/")
    system = (found["system"] or "").lower()
    method = (found["method"] or "").lower()
    component = found["component"].strip().lower()
    if _DECISIVE.search(method):
        component = f"{component} {method}"
    analyte = Analyte(
        component, _KINDS.get(top, top) + slash + bottom, _SYSTEMS.get(system, system)
    )
    return analyte, method
