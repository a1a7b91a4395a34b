"""The profile of the HL7 messages that Assay sends, for integrators.

`fields` is the table, `samples` writes examples with the code that writes messages,
`page` makes docs/reference/hl7-messages.md of both.
"""
