"""Demographics and bodies for tests; the people are made up."""

from __future__ import annotations

from datetime import date
from typing import Any

from users.operations.users.demographics import Address, Guarantor, UserInfoRequest

ADDRESS = Address(
    first_line="1 Sample Street",
    country="US",
    zip="85004",
    city="Phoenix",
    state="AZ",
)
GUARANTOR = Guarantor(
    first_name="Marta",
    last_name="Example",
    address=ADDRESS,
    phone_number="+15550100",
)


def info_request(**wanted: Any) -> UserInfoRequest:
    return UserInfoRequest(
        **{
            "first_name": "Ada",
            "last_name": "Example",
            "email": "ada@assay.example",
            "phone_number": "+15550101",
            "gender": "female",
            "dob": date(1990, 5, 17),
            "address": ADDRESS,
            **wanted,
        }
    )


def info_body(**wanted: Any) -> dict[str, Any]:
    """The least valid body of PATCH /v2/user/{user_id}/info."""
    return {
        "first_name": "Ada",
        "last_name": "Example",
        "email": "ada@assay.example",
        "phone_number": "+15550101",
        "gender": "female",
        "dob": "1990-05-17",
        "address": {
            "first_line": "1 Sample Street",
            "country": "US",
            "zip": "85004",
            "city": "Phoenix",
            "state": "AZ",
        },
        **wanted,
    }
