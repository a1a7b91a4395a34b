"""Tables of what is handed out: bulk exports, shared links, the lake, their files."""

from exchange.models.bulk_export import BulkExport, BulkExportFile
from exchange.models.lake import LakeFile, LakeRun
from exchange.models.shared_link import SharedFile, SharedLink

__all__ = [
    "BulkExport",
    "BulkExportFile",
    "LakeFile",
    "LakeRun",
    "SharedFile",
    "SharedLink",
]
