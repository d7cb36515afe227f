-- Open waits by kind: how many runs sleep is counted without those that are over.
create index if not exists waits_open on waits (kind, run_id) where status = 'open';
