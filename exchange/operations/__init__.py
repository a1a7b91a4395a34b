"""What is handed out, and taken back."""
