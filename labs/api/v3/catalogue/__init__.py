"""Labs, markers, panels and lab accounts in the API (contract 6.1 to 6.4)."""
