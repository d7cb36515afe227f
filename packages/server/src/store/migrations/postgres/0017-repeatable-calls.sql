-- Whether the server of the tool says that the call may be carried out twice without harm, and the agent trusts it.
alter table tool_calls add column is_repeatable bigint not null default 0;
