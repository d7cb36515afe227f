-- Questions about accounts that are not connected yet, which a pass answers (D-608).
create index if not exists interactions_about_accounts on interactions (interaction_key)
  where status = 'pending' and request_id >= 'connection-missing:' and request_id < 'connection-missing;';
