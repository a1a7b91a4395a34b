"""Cloud sources as the outside world: what we ask of one, behind a Protocol."""
