"""What every API view stands on: DRF for authentication, input, errors and schema.

Nothing under here knows an app. HTML has portal.lib.web.views.
"""
