"""How Django writes numbers and reads forms, the same in every language.

A number in a template lands in drawings, styles and scripts as often as in prose, and
the value of a result is shown as the lab reported it. So none is written with a decimal
comma unless a filter for prose asks for it (`portal.ui.numbers`). Dates in forms are
those of `<input type="date">`. A module a language, as Django looks them up.
"""

DECIMAL_SEPARATOR = "."
NUMBER_GROUPING = 3
DATE_INPUT_FORMATS = ["%Y-%m-%d"]
TIME_INPUT_FORMATS = ["%H:%M:%S", "%H:%M:%S.%f", "%H:%M"]
DATETIME_INPUT_FORMATS = [
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M"),
    *("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"),
]
