-- The currency of a cost (D-131): an operator may change the one of the deployment.
alter table runs add column cost_currency text collate "C";
alter table usage_entries add column cost_currency text collate "C";
