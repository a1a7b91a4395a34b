"""Appointments: offer slots, book, change, complete and cancel."""
