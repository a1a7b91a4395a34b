"""What others' validators say of a message that we write."""

from __future__ import annotations

import re
from typing import Any

from hl7apy.consts import VALIDATION_LEVEL
from hl7apy.parser import parse_message

# Table 0396 names tables of HL7 itself by a pattern (HL7nnnn), which hl7apy reads as a
# value. Table 0309 is a site's own (hl7_payer_in_in1). Lengths of fields are left to
# agreements: what is longer is not cut.
_ALLOWED = re.compile(
    r"Value HL7\d{4} not in table HL70396 |Value [CT] not in table HL70309 "
    r"|Exceeded max length "
)


def require_valid_hl7(raw: bytes, tmp_path: Any) -> Any:
    """Parse and validate a message with hl7apy, strictly; return it as parsed."""
    report = tmp_path / "hl7apy.txt"
    text = raw.decode()
    message = parse_message(
        text, validation_level=VALIDATION_LEVEL.STRICT, find_groups=True
    )
    message.validate(report_file=str(report))
    complaints = report.read_text().splitlines()
    assert [
        one for one in complaints if not _ALLOWED.match(one.partition(": ")[2])
    ] == []
    assert message.to_er7() == text.rstrip("\r")
    return message
