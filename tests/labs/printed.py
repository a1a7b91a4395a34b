"""What stands on a PDF, for assertions."""

from __future__ import annotations

import pypdfium2


def pages_of(body: bytes) -> list[str]:
    """The text of each page, blanks and line ends each made one blank."""
    document = pypdfium2.PdfDocument(body)
    try:
        texts = [page.get_textpage().get_text_bounded() for page in document]
    finally:
        document.close()
    return [" ".join(text.split()) for text in texts]
