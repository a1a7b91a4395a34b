"""What accounts ask of servers that are not ours: providers of single sign-on."""
