"""Delivery of messages to patients: mail, and texts by a provider of the team."""
