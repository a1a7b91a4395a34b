"""Analysis of stored data; samples are read through users.store."""
