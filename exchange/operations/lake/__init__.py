"""The lake: closed months as Parquet files, for analytics and never read back."""
