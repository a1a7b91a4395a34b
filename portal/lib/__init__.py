"""The floor: what every app stands on; knows no app."""
