"""The pages that look at several apps: landing page, and later search and palette."""
