"""Pages of texts to patients, and the address where their provider reports."""
