"""Tables of what is handed out: bulk exports and their files."""

from exchange.models.bulk_export import BulkExport, BulkExportFile

__all__ = ["BulkExport", "BulkExportFile"]
