"""Files of this machine that last as long as a request or a job: VAR_DIR/scratch.

Not the system's folder for such files, which may be in memory, and where what a killed
process left would stay.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import (
    FileUploadHandler,
    TemporaryFileUploadHandler,
)
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Iterator

# No request and no job takes longer.
LEFT_BEHIND = timedelta(days=1)


def prepare_scratch_folder() -> Path:
    """Create the folder for temporary files, and empty it of dead processes' files."""
    folder = Path(settings.VAR_DIR) / "scratch"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    before = (timezone.now() - LEFT_BEHIND).timestamp()
    for path in folder.iterdir():
        try:
            if path.stat().st_mtime < before:
                path.unlink()
        except FileNotFoundError:  # another process was quicker
            continue
    return folder


@contextmanager
def open_scratch_file() -> Iterator[BinaryIO]:
    """Open a temporary file, at `.name`, that only this user may open."""
    with NamedTemporaryFile(dir=prepare_scratch_folder()) as opened:
        yield cast(BinaryIO, opened)


class ScratchUploadHandler(TemporaryFileUploadHandler):
    """Django's own for large uploads, in our folder."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin with a file of a form."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        self.file = _Upload(
            self.file_name, self.content_type, 0, self.charset, self.content_type_extra
        )


class _Upload(TemporaryUploadedFile):
    def __init__(self, *told: Any) -> None:
        # Django's own has one folder from a setting, which must exist at every start.
        opened = NamedTemporaryFile(dir=prepare_scratch_folder())  # noqa: SIM115 - the request closes it
        UploadedFile.__init__(self, opened, *told)
