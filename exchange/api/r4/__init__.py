"""FHIR R4 over HTTP."""
