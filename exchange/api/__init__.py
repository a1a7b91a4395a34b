"""FHIR over HTTP, a folder for each version."""
