-- The id that an A2A client gave the message which started the run; null for runs that were started another way.
alter table runs add column message_id text collate "C";
