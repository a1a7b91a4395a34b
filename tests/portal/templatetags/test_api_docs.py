from __future__ import annotations

from portal.templatetags.api_docs import write_paragraphs


def test_texts_of_the_document_are_escaped_paragraphs_with_code():
    text = "At most `limit` samples;\n`<b>` & more.\n\nSecond."

    assert write_paragraphs(text) == (
        "<p>At most <code>limit</code> samples; <code>&lt;b&gt;</code> &amp; more.</p>"
        "<p>Second.</p>"
    )
