-- Runs that other runs have called (D-920).
alter table waits add column child_session_id text collate "C";
alter table waits add column child_run_id text collate "C";
-- 1: the called run is to be cancelled.
alter table waits add column is_doomed bigint not null default 0;
create unique index waits_of_child on waits (child_run_id) where child_run_id is not null;
create index waits_doomed on waits (id) where is_doomed = 1;

-- The runs that called it, the root first: 'run_root/run_caller/'. Null for a run that no run has called.
alter table runs add column ancestors text collate "C";
create index if not exists runs_below on runs (ancestors, id) where ancestors is not null;
