"""Twins: servers on this machine that answer as providers do, for trials and tests."""
