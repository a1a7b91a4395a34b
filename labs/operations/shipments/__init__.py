"""Shipments of kits: events of the way, couriers, files of events, another kit."""
