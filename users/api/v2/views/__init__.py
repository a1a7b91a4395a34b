"""Views of the users API, one class per endpoint, by noun."""
