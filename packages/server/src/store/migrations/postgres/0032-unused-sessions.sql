-- contract: every query of release 0.1 or later works without the index `sessions_idle`.

-- The ten minutes of the last change, numbered from 1970. With this column in the index instead of the status and the time,
-- most changes of a session change no index.
alter table sessions add column changed_period bigint not null default 0;
update sessions set changed_period = updated_at / 600000 where ended_at is null;
create index if not exists sessions_unused on sessions (changed_period) where ended_at is null;
drop index if exists sessions_idle;
