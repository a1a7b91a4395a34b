from __future__ import annotations

import pytest
from django.template import Context, Template
from django.utils import translation

from portal.templatetags.translated import PlainTranslation


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "source",
    [
        "{% translate 'Cancel' %}",
        '{% translate "Search" %}',
        "{% translate '100% <b>sure</b> & \"safe\"' %}",
        "{% translate words %}",
        "{% translate 'Search'|upper %}",
        "{% translate 'Search' as found %}[{{ found }}]",
        "{% translate 'Cancelled' context 'order' %}",
        "{% translate 'Search' noop %}",
    ],
)
def test_a_text_is_translated_as_by_django(language, source):
    django = source.replace("{% translate", "{% trans")
    context = {"words": "Search"}
    with translation.override(language):
        ours, theirs = (
            Template(each).render(Context(context)) for each in (source, django)
        )

    assert ours == theirs


def test_a_plain_text_does_not_take_djangos_way():
    plain, other = (
        Template(source).nodelist[0]
        for source in ("{% translate 'Search' %}", "{% translate words %}")
    )

    assert isinstance(plain, PlainTranslation)
    assert not isinstance(other, PlainTranslation)
