"""The order wizard: drafts, steps and their forms."""
