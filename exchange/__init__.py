"""FHIR R4: health data as clinics and their systems read it."""
