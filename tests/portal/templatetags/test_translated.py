from __future__ import annotations

import pytest
from django.template import Context, Template
from django.utils import translation

from portal.templatetags.translated import PlainBlock, PlainTranslation


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
        "{% blocktranslate %}Search{% endblocktranslate %}",
        "{% blocktranslate trimmed with n=words %}{{ n }} rows\n"
        "{% endblocktranslate %}",
        "{% blocktranslate %}100% of {{ words }}{{ missing }}{% endblocktranslate %}",
        "{% blocktranslate with number=unsafe %}Page {{ number }}"
        "{% endblocktranslate %}",
        "{% blocktranslate count n=2 %}{{ n }} row{% plural %}{{ n }} rows"
        "{% endblocktranslate %}",
        "{% blocktranslate asvar it %}Search{% endblocktranslate %}[{{ it }}]",
    ],
)
def test_a_text_is_translated_as_by_django(language, source):
    django = source.replace("translate", "trans")
    context = {"words": "Search", "unsafe": "<1> & 100%"}
    with translation.override(language):
        template = Template(source)
        ours, again, theirs = (
            each.render(Context(context))
            for each in (template, template, Template(django))
        )

    assert ours == again == theirs


def test_a_plain_text_does_not_take_djangos_way():
    plain, other, block = (
        Template(source).nodelist[0]
        for source in (
            "{% translate 'Search' %}",
            "{% translate words %}",
            "{% blocktranslate %}Search {{ words }}{% endblocktranslate %}",
        )
    )

    assert isinstance(plain, PlainTranslation)
    assert not isinstance(other, PlainTranslation)
    assert isinstance(block, PlainBlock)
