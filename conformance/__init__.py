"""Conformance kit: what a team checks against its sandbox before it goes live.

Plain Python 3.11 without dependencies, so that it can be installed or copied anywhere:
`assay-conformance --base-url URL` calls an API with a sandbox key as a team's own code
does, `--receiver URL` sends every event of the catalogue to a team's webhook receiver.
In this repository it is `manage.py conformance`.
"""
