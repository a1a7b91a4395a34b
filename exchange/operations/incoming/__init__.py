"""Laboratory results that other systems send as FHIR."""
