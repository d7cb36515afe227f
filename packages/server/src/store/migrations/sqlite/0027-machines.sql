-- Session folders on several machines (D-91): which machine executed the last leg of a run, up to which lease its changes of
-- the folder are archived, until when the run waits for that machine, and whether it goes on without its changes.
alter table runs add column last_machine text;
alter table runs add column saved_epoch integer not null default 0;
alter table runs add column hold_until integer;
alter table runs add column is_behind integer not null default 0;
