"""People, addresses and telephones in the messages that we write.

What an order does not say stays empty. Source: HL7 v2.5.1, chapters 2A and 3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from labs.gateways.hl7.acknowledgements import APPLICATION
from labs.gateways.hl7.messages import Repetitions, build_hl7_segment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from labs.gateways.hl7.messages import FieldValue
    from labs.models import Order

# Table 0001.
SEXES = {"female": "F", "male": "M", "other": "O"}
# Table 0005, by the contract's values (2.5).
_RACES = {
    "african_american_or_black": ("2054-5", "Black or African American"),
    "asian": ("2028-9", "Asian"),
    "indigenous_native_american_alaska_native": (
        "1002-5",
        "American Indian or Alaska Native",
    ),
    "other": ("2131-1", "Other Race"),
    "pacific_islander_or_hawaiian": (
        "2076-8",
        "Native Hawaiian or Other Pacific Islander",
    ),
    "white_caucasian": ("2106-3", "White"),
}
# Table 0189; others have no code there.
_ETHNICITIES = {
    "hispanic": ("H", "Hispanic or Latino", "HL70189"),
    "non_hispanic": ("N", "Not Hispanic or Latino", "HL70189"),
    "ashkenazi_jewish": ("", "Ashkenazi Jewish"),
    "other": ("", "Other"),
}
# Table 0399 is of three letters; people write these.
_USA = {"US", "USA", "U.S.", "U.S.A.", "UNITED STATES", "UNITED STATES OF AMERICA"}
_COUNTRY = re.compile("[A-Z]{3}")
_US_NUMBER = re.compile(r"\+?1?([2-9]\d{2})([2-9]\d{2}\d{4})", re.ASCII)


def build_hl7_patient_segment(
    order: Order, *, own_id: tuple[str, str] = ("", "")
) -> str:
    """Build PID of an order's patient; PID-3 is our user's id.

    `own_id` is an id that another system has given, with its namespace; it is first.
    """
    details: Mapping[str, Any] = order.patient_details or {}
    race = _RACES.get(str(details.get("race") or ""))
    return build_hl7_segment(
        "PID",
        {
            1: "1",
            3: Repetitions(
                (number, "", "", namespace, "PI")
                for number, namespace in (own_id, (str(order.user.uuid), APPLICATION))
                if number
            ),
            5: (*format_hl7_name(details), *[""] * 4, "L"),
            7: format_hl7_date(details.get("dob")),
            8: SEXES.get(str(details.get("gender", "")), "U"),
            10: (*race, "HL70005") if race else "",
            11: format_hl7_address(order.patient_address or {}),
            13: format_hl7_telecoms(details),
            22: _ETHNICITIES.get(str(details.get("ethnicity") or ""), ""),
        },
    )


def format_hl7_name(person: Mapping[str, Any]) -> tuple[str, str]:
    """Return family and given name (XPN.1, XPN.2)."""
    return str(person.get("last_name") or ""), str(person.get("first_name") or "")


def format_hl7_date(day: object) -> str:
    """Return a day of the wire (`1990-05-17`, maybe with a time) as YYYYMMDD."""
    return str(day or "")[:10].replace("-", "")


def format_hl7_address(address: Mapping[str, Any]) -> Sequence[str]:
    """Return an address as XAD.

    A country that we have no code of (table 0399) is XAD.8, as it was written.
    """
    keys = ("first_line", "second_line", "city", "state", "zip")
    lines = [str(address.get(key) or "") for key in keys]
    written = str(address.get("country") or "").strip()
    if written.upper() in _USA:
        return (*lines, "USA")
    if _COUNTRY.fullmatch(written.upper()):
        return (*lines, written.upper())
    return (*lines, "", "", written)


def format_hl7_telecoms(person: Mapping[str, Any]) -> FieldValue:
    """Return a person's telephone and e-mail as repetitions of XTN.

    The number as it was written is XTN.1; one of the United States is also parted.
    """
    written = str(person.get("phone_number") or "")
    email = str(person.get("email") or "")
    found = []
    if written:
        parts = _US_NUMBER.fullmatch(re.sub(r"[ ().-]", "", written))
        country = ("1", parts[1], parts[2]) if parts else ()
        found.append((written, "PRN", "PH", "", *country))
    if email:
        found.append(("", "NET", "Internet", email))
    return Repetitions(found)


def format_hl7_physician(order: Order) -> Sequence[str]:
    """Return an order's physician as XCN, empty where it names none."""
    named: Mapping[str, Any] = order.physician or {}
    if not named:
        return ""
    return (
        str(named.get("npi") or ""),
        *format_hl7_name(named),
        *[""] * 5,
        "NPI",
        *[""] * 3,
        "NPI",
    )
