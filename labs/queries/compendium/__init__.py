"""Tests of all labs: find them, compare them, convert those of one lab to another."""
