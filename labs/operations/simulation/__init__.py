"""The sandbox simulation, by the operations that production uses."""
