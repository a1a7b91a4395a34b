"""Our scripts set no property whose name comes from data (prototype pollution)."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

OWN = Path(settings.BASE_DIR) / "static/js"
# A name in brackets that is written to, and what merges whole objects or prototypes.
WRITES = re.compile(
    r"([\w.]+\[(?![\"'\d])[^\]\n]+\])\s*(?:\?\?|\|\||&&|\*\*|[-+*/%&|^])?=(?![=>])"
    r"|(__proto__|(?:Object|Reflect)\.(?:assign|definePropert|set)\w*)"
)
# Each takes its names from a list in the script itself.
KNOWN = {
    "review_drawing.js": ["place[side]"],
    "review_pages.js": ["looks[how]"],
}


def test_no_script_sets_a_property_by_a_name_from_data():
    found = {}
    for script in sorted(OWN.glob("*.js")):
        if writes := [a or b for a, b in WRITES.findall(script.read_text())]:
            found[script.name] = writes

    assert found == KNOWN
    assert 'for (const side of ["x0", "y0", "x1", "y1"])' in _read("review_drawing.js")
    assert "if (Object.hasOwn(looks, how)) looks[how]" in _read("review_pages.js")


def _read(name):
    return (OWN / name).read_text()
