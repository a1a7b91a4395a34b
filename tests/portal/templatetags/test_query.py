from __future__ import annotations

import pytest
from django.template import RequestContext, Template
from django.template.defaulttags import querystring


@pytest.mark.parametrize("asked", ["", "?a=1&b=2&a=3", "?q=%C3%A9+%26&offset=50"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"a": None},
        {"a": "<x> y&z", "offset": None},
        {"b": 7, "c": "new"},
        {"a": ["1", "é"], "q": None},
        {"a": None, "b": None, "q": None, "offset": None},
    ],
)
def test_a_query_string_is_djangos(rf, asked, changed):
    context = RequestContext(rf.get(f"/{asked}"), changed)
    tag = " ".join(f"{name}={name}" for name in changed)

    ours = Template(f"{{% querystring {tag} as it %}}{{{{ it|safe }}}}").render(context)

    assert ours == querystring(context, **changed)


def test_its_values_are_escaped(rf):
    context = RequestContext(rf.get("/?a=1"), {"b": "<"})

    assert Template("{% querystring b=b %}").render(context) == "?a=1&amp;b=%3C"
