"""Pages of shipments: couriers and files of events."""
