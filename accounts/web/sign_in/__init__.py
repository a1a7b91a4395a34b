"""Pages of sign-in: passwords, second factors, passkeys, single sign-on."""
