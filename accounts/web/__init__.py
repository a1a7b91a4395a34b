"""Sign-in, the tenant of a page, rights: what every page stands on."""
