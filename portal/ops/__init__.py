"""What operators run: health, backups, metrics, key rotation, isolation report."""
