"""Oura's cloud: its public interface, version 2 (cloud.ouraring.com/v2/docs)."""
