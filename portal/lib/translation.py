"""Lazy translation whose result is typed as the text that it becomes."""

from __future__ import annotations

from typing import cast

from django.utils import translation


def gettext_lazy(text: str) -> str:
    """Mark a text of a module or class for the catalogue; it is translated when shown.

    Texts inside functions take `django.utils.translation.gettext`. Ours: Django's own
    type is no `str`, which every table of labels would have to repeat. `str.join` and
    JSON need `str()` around it.
    """
    return cast("str", translation.gettext_lazy(text))


def pgettext_lazy(context: str, text: str) -> str:
    """Mark a text whose words differ by what it is said of, such as an order.

    Source: as gettext_lazy; German cancels an order by another verb than a visit, and
    other languages by another gender.
    """
    return cast("str", translation.pgettext_lazy(context, text))
