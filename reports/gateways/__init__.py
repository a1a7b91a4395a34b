"""Mail servers, and the DNS that says whose mails are genuine."""
