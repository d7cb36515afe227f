-- Whose accounts the runs of a session use (D-591).
alter table sessions add column end_user text;
