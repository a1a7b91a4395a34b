"""`{% translate %}` and `{% blocktranslate %}` in a fraction of Django's time.

Django makes a lazy text at each rendering, which is turned into text at once, and puts
the message of a block together again: a list of fifty rows has five hundred of them.
Here a tag looks its text up once a language. What is not plain goes Django's way.
Builtins of all templates, after Django's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.template.base import render_value_in_context
from django.templatetags.i18n import (
    BlockTranslateNode,
    TranslateNode,
    do_block_translate,
    do_translate,
)
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

if TYPE_CHECKING:
    from django.template import Context
    from django.template.base import Parser, Token

register = template.Library()


class PlainTranslation(template.Node):
    """A text of the template, in the language of the page."""

    def __init__(self, text: str) -> None:
        # As Django has it in the catalogue.
        self.message = text.replace("%", "%%")
        self._texts: dict[str | None, SafeString] = {}

    def render(self, _context: Context) -> SafeString:
        """Return the text, which its translators wrote as HTML."""
        language = get_language()
        text = self._texts.get(language)
        if text is None:
            text = SafeString(gettext(self.message).replace("%%", "%"))
            self._texts[language] = text
        return text


class PlainBlock(template.Node):
    """A sentence with values, in the language of the page."""

    def __init__(self, block: BlockTranslateNode) -> None:
        self.block = block
        self.message, self.names = block.render_token_list(block.singular)
        self._texts: dict[str | None, str] = {}

    def render(self, context: Context) -> str:
        """Return the sentence; its values are escaped as any are."""
        language = get_language()
        text = self._texts.get(language)
        if text is None:
            text = self._texts[language] = gettext(self.message)
        given = self.block.extra_context
        try:
            return text % {
                name: render_value_in_context(
                    given[name].resolve(context) if name in given else context[name],
                    context,
                )
                for name in self.names
            }
        except (KeyError, ValueError):  # a value is missing, or a translation is broken
            return str(self.block.render(context))


@register.tag("translate")
def translate(parser: Parser, token: Token) -> template.Node:
    """Translate a text, with a variable, a filter or a context as Django does."""
    node = do_translate(parser, token)
    return node if (text := _find_plain_text(node)) is None else PlainTranslation(text)


@register.tag("blocktranslate")
def translate_block(parser: Parser, token: Token) -> template.Node:
    """Translate a sentence, with a plural or a context as Django does."""
    node = do_block_translate(parser, token)
    is_plain = not (node.plural or node.counter or node.asvar or node.message_context)
    return PlainBlock(node) if is_plain else node


def _find_plain_text(node: TranslateNode) -> str | None:
    expression = node.filter_expression
    text = getattr(expression.var, "literal", None)
    is_plain = not (node.noop or node.asvar or node.message_context)
    has_text = isinstance(text, str) and not expression.filters
    return text if is_plain and has_text else None
