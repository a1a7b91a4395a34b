"""Write what is stored or sent in English, whatever language its asker reads."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from django.utils import translation

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def in_english(function: Callable[P, R]) -> Callable[P, R]:
    """Call a function with texts in English, and return to the reader's language.

    For documents, resources and stored words. Django's own `override` is no decorator
    for threads: it keeps the language to return to on itself.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with translation.override("en"):
            return function(*args, **kwargs)

    return call
