"""Pages of a team's LOINC mappings."""
