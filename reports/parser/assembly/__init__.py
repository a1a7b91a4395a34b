"""What a parsed report is made of besides its rows: header, screening, confidence."""
