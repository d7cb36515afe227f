-- contract: release 0.1 lists with the new indexes.
-- Runs in the order of their last change (D-468), so that a run which begins at once and ends changes one index, once.
-- Those of an agent, without the ones that execute. The condition is one that only these lists have: with
-- "lease_owner is null", SQLite reads the whole index to find the few runs whose cancellation nobody carries out yet.
create index if not exists runs_resting on runs (tenant_id, agent_name, status, status_at, id)
  where coalesce(lease_owner, '') = '';
-- Those of a session behind its first hundred: few sessions have more.
create index if not exists runs_late_in_session on runs (session_id, status, status_at, id) where number > 100;
drop index if exists runs_changed;
drop index if exists runs_changed_in_session;
