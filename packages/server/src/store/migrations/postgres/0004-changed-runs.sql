-- When the status of a run, or the number of its open requests, last changed: lists of tasks are in this order (D-468).
alter table runs add column status_at bigint not null default 0;
update runs set status_at = coalesce(ended_at, last_event_at);
create index if not exists runs_changed on runs (tenant_id, agent_name, status, status_at, id);
create index if not exists runs_changed_in_session on runs (session_id, status, status_at, id);
