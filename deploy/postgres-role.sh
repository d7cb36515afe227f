#!/bin/sh
# Runs once, when the database is made. Convoke's own role is an ordinary one: row-level security binds no superuser.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$ROLE_PASSWORD" <<'SQL'
create role convoke login password :'password';
create database convoke owner convoke encoding 'UTF8' template template0;
SQL
