"""Sources and resources of wearable data; no tables and no verbs."""
