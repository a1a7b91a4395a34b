#!/bin/sh
# Run once by the database's container: a role of no special rights that owns its database.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username postgres <<'SQL'
CREATE ROLE assay LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE assay OWNER assay;
SQL
