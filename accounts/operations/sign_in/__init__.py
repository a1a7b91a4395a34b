"""Sign-in: addresses, passwords, sessions, attempts and single sign-on."""
