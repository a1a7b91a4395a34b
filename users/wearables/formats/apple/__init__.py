"""Apple Health exports (export.zip, export.xml)."""
