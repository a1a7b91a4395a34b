"""MLLP: HL7 messages over TCP and TLS, both ways.

Source: HL7 v2, Transport Specification: MLLP, release 1. The streams of the `hl7`
package were tried: they hold a message of any kind until its end before they look at
its start, keep no reference to the task of a connection, and know neither limits of
time nor certificates, so only the frame itself would be left of them.
"""
