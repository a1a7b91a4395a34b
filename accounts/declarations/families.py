"""The families of colors that marks of any app have."""

from typing import Literal

Family = Literal["ok", "warn", "bad", "info", "rev", "mute"]
