"""The compendium in the API: tests of all labs, and conversions (contract 10)."""
