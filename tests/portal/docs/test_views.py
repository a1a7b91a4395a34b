from __future__ import annotations

import re

import pytest
from django.urls import reverse

from portal.docs import search
from portal.docs.markdown import render_markdown
from portal.docs.pages import (
    find_docs_folder,
    list_docs_pages,
    list_docs_pages_by_kind,
    render_docs_page,
)
from portal.docs.search import search_docs, start_docs_search

PAGES = list_docs_pages()
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("slug", PAGES)
def test_each_page_is_served_with_its_title_and_neighbors(client, slug):
    answer = client.get(f"/docs/{slug}/")
    page = answer.content.decode()

    assert answer.status_code == 200
    title = render_docs_page(PAGES[slug]).title
    assert title
    assert page.count("<h1") == 1
    assert f"<h1>{title}</h1>" in page
    assert f"<title>{title} · Assay</title>" in page
    assert 'aria-current="page"' in page
    assert 'rel="prev"' in page or 'rel="next"' in page
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("slug", PAGES)
def test_each_link_of_a_page_leads_to_an_anchor_or_page(client, slug):
    html = render_docs_page(PAGES[slug]).html
    anchors = {
        other.url: {heading.anchor for heading in render_docs_page(other).headings}
        for other in PAGES.values()
    }
    anchors |= {reverse("docs"): set()}

    for target in re.findall(r'<a href="([^"]*)"', html):
        address, _, anchor = target.partition("#")
        if "://" in target:
            continue
        address = address or PAGES[slug].url
        assert address in anchors, target
        assert not anchor or anchor in anchors[address] or f'id="{anchor}"' in html


def test_the_front_page_lists_every_page_by_kind(client):
    page = client.get("/docs/").content.decode()

    for kind in list_docs_pages_by_kind():
        assert f">{kind.title}</h2>" in page
    for each in PAGES.values():
        assert f'href="{each.url}"' in page


def test_every_page_of_the_folder_is_served():
    served = {page.path for page in PAGES.values()}

    assert set(find_docs_folder().rglob("*.md")) - served == {
        find_docs_folder() / "index.md"
    }


@pytest.mark.parametrize(
    "path",
    [
        "no-such-page/",
        "guides/",
        "index/",
        "guides/deploy.md/",
        "../README/",
        "..%2f..%2fREADME/",
        "guides/../../README/",
        "%2e%2e/README/",
        "/etc/passwd/",
        "report.png/",
        "guides/deploy%00/",
    ],
)
def test_what_is_no_page_is_404(client, path):
    assert client.get(f"/docs/{path}").status_code == 404


def test_other_methods_are_refused(client):
    assert client.post("/docs/").status_code == 405
    assert client.post("/docs/guides/deploy/").status_code == 405
    assert client.post("/docs/search/").status_code == 405


def test_search_finds_sections_by_heading_and_text(client):
    by_heading = client.get("/docs/search/?q=put a proxy").context["results"]
    by_name = client.get("/docs/search/?q=STORAGE_URL").content.decode()

    assert by_heading[0].url == "/docs/guides/deploy/#put-a-proxy-in-front"
    assert "/docs/reference/environment/#storage_url" in by_name
    assert "<mark>STORAGE_URL</mark>" in by_name


def test_search_wants_all_words_and_says_when_none_fit(client):
    assert search_docs("backup restore")
    assert search_docs("backup nosuchword") == []
    # Words are no expressions: these would match anything, or be malformed.
    assert (
        search_docs("b.ckup") == search_docs("[z-a") == search_docs("(?:backup") == []
    )

    nothing = client.get("/docs/search/?q=nosuchword").content.decode()
    empty = client.get("/docs/search/")

    assert "Nothing found" in nothing
    assert empty.status_code == 200
    assert empty.context["results"] == []


def test_search_escapes_what_was_typed(client):
    page = client.get("/docs/search/", {"q": "<script>alert(1)</script>"})

    assert "<script>alert" not in page.content.decode()


def test_the_binding_texts_come_last():
    found = [result.page.slug for result in search_docs("requisition")]

    last = [slug in ("contract", "specification") for slug in found]
    assert found
    assert last == sorted(last)


def test_raw_html_stays_text_and_unknown_links_are_dropped():
    rendered = render_markdown(
        "# Title\n\n<b>bold</b> [away](../LICENSE) [bad](javascript:alert(1))\n\n"
        "## A `name`, twice\n\n## A `name`, twice\n",
        resolve=lambda target: None if "LICENSE" in target else target,
    )

    assert "<b>" not in rendered.html
    assert "&lt;b&gt;" in rendered.html
    assert "away" in rendered.html
    assert "LICENSE" not in rendered.html
    assert 'href="javascript' not in rendered.html
    assert [each.anchor for each in rendered.headings] == [
        "a-name-twice",
        "a-name-twice-1",
    ]


def test_a_state_diagram_becomes_a_list():
    html = render_docs_page(PAGES["guides/review-reports"]).html

    assert "stateDiagram" not in html
    assert "<li><code>completed</code>: end</li>" in html


def test_the_documentation_is_linked_from_sign_in_and_from_the_api_pages(client):
    for path in ("/accounts/login/", "/api/docs/start/"):
        assert 'href="/docs/"' in client.get(path).content.decode()


def test_a_process_that_has_started_renders_nothing_to_search(client, monkeypatch):
    search._index.cache_clear()
    start_docs_search().join()

    def refuse(_page):
        raise AssertionError("rendered for a search")

    monkeypatch.setattr(search, "render_docs_page", refuse)

    assert client.get("/docs/search/?q=STORAGE_URL").context["results"]
