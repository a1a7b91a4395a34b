"""Pages of a user's data: nights, cycles, workouts and imports."""
