-- Calls whose changes of the session folder are in an archive that was made during their leg (D-92).
alter table tool_calls add column is_saved integer not null default 0;
