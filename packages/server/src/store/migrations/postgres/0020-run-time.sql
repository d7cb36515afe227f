-- Runs of several legs: when the last one was interrupted, how long they executed, and by what a checkpoint was made
-- (D-87, D-95, D-99).
alter table runs add column interrupted_at bigint;
alter table runs add column executed_ms bigint not null default 0;
-- Since when the current leg works; null between legs and while its live agent waits for a person.
alter table runs add column leg_started_at bigint;

-- Null where a server of the release before wrote the checkpoint.
alter table session_states add column checkpoint_format integer;
alter table session_states add column checkpoint_agent text;
