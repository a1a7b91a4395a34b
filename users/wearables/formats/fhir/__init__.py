"""Readers of FHIR resources that people's health records hold."""
