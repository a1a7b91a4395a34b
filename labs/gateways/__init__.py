"""Gateways to labs and booking providers, behind protocols."""
