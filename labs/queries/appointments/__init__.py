"""Reads of appointments, and of where and when they can be booked."""
