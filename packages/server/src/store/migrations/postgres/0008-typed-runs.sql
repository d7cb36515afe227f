-- What the agent returned, as JSON text, and the version of the agent that executed the run's last leg.
alter table runs add column output text collate "C";
alter table runs add column agent_digest text collate "C";
