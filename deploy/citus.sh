#!/bin/sh
# Run once by each server of Citus, behind database.sh: the extension, the roles that
# serve, which a coordinator uses on its workers too, and the passwords it does so with.
set -eu
psql --set ON_ERROR_STOP=1 --set web="$WEB_PASSWORD" --set work="$WORK_PASSWORD" \
    --username postgres --dbname assay <<'SQL'
CREATE EXTENSION citus;
CREATE ROLE assay_web LOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT PASSWORD :'web';
CREATE ROLE assay_work LOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT PASSWORD :'work';
SQL
umask 077
cat > "$PGPASSFILE" <<END
*:5432:assay:assay:$POSTGRES_PASSWORD
*:5432:assay:postgres:$POSTGRES_PASSWORD
*:5432:assay:assay_web:$WEB_PASSWORD
*:5432:assay:assay_work:$WORK_PASSWORD
END
