from __future__ import annotations

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from portal.ui.highlighting import format_json, highlight_json


def test_keys_strings_numbers_and_literals_have_their_colours():
    html = highlight_json('{"a": ["b", -1.5e3, null]}')

    assert html == (
        '{<span class="k">&quot;a&quot;</span>: [<span class="s">&quot;b&quot;</span>, '
        '<span class="n">-1.5e3</span>, <span class="l">null</span>]}'
    )


def test_markup_within_is_escaped():
    html = highlight_json(format_json({"<b>": "</pre><script>alert(1)</script>"}))

    assert re.findall(r"<(?!/?span)", html) == []


@given(st.text(alphabet='"\\:{}[]<>&1ae.- \n', max_size=60))
def test_no_text_is_lost_or_let_through(text):
    html = highlight_json(text)

    assert unescape(re.sub(r"</?span[^>]*>", "", html)) == text
