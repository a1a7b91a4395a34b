"""The store of samples: the only code that knows the sample tables."""
