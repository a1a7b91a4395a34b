"""Tables of what is handed out: bulk exports, shared links, and their files."""

from exchange.models.bulk_export import BulkExport, BulkExportFile
from exchange.models.shared_link import SharedFile, SharedLink

__all__ = ["BulkExport", "BulkExportFile", "SharedFile", "SharedLink"]
