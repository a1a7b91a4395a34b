"""HL7 connections: settings, messages received, messages sent."""
