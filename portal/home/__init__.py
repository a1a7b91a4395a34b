"""The pages that look at several apps: where a member lands."""
