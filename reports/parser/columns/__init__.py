"""The columns of tables: their titles and roles."""
