"""What every template keeps to: the content policy, and the parts that exist."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.template import TemplateSyntaxError
from django.template.loader import get_template

from accounts.declarations.pages import list_destinations, list_nav_links, list_searches
from portal.ui.pills import PILLS

TEMPLATES = Path(settings.BASE_DIR) / "templates"
STATIC = Path(settings.BASE_DIR) / "static"
ALL = sorted(TEMPLATES.rglob("*.html"))
# Script or style inside the page, in any of the ways HTML and htmx have.
INLINE = re.compile(
    r"\sstyle=|<style|<script(?![^>]*\ssrc=)|\son\w+=|hx-on|javascript:|\bhx-vals=.js"
)

ELSEWHERE = re.compile(r'(?:src|href|action)="(?:https?:)?//')


# Mail programs load no style sheet, so that a mail has its styles with it.
PAGES = [path for path in ALL if path.parent.name != "email"]


def found_in_templates(pattern):
    """By template what the pattern finds; nothing of those that have nothing."""
    found = {path: pattern.findall(path.read_text()) for path in PAGES}
    return {path: texts for path, texts in found.items() if texts}


def test_no_template_has_script_or_style_of_its_own():
    assert found_in_templates(INLINE) == {}


def test_no_template_loads_anything_from_elsewhere():
    assert found_in_templates(ELSEWHERE) == {}


def test_every_template_can_be_read():
    refused = {}
    for path in ALL:
        try:
            get_template(str(path.relative_to(TEMPLATES)))
        except TemplateSyntaxError as error:
            refused[path] = str(error)

    assert refused == {}
    assert len(ALL) > 250


def test_every_icon_is_in_the_sprite():
    declared = (*PILLS.values(), *list_nav_links(), *list_destinations())
    drawn = {part.icon for part in (*declared, *list_searches())} | {"ring"}
    for path in ALL:
        drawn |= set(re.findall(r'{% icon "([\w-]+)"', path.read_text()))
        drawn |= set(re.findall(r'icon_name="([\w-]+)"', path.read_text()))
    sprite = (STATIC / "img" / "icons.svg").read_text()

    assert drawn - set(re.findall(r'id="i-([\w-]+)"', sprite)) == set()


def test_every_menu_has_its_button():
    for folder in {path.parent for path in ALL}:
        # A page may be in parts: the menu in one, its button in another.
        text = "".join(path.read_text() for path in ALL if path.parent == folder)
        menus = set(re.findall(r'{% menu "([\w-]+)"', text))
        opened = set(re.findall(r'(?:popovertarget| menu)="([\w-]+)"', text))

        assert menus <= opened, folder.name
