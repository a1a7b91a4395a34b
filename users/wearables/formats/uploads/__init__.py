"""What an upload holds: its members, what each looks like, and its plain values."""
