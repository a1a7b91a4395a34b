"""State machines against models: random walks, judged by what the contract says."""
