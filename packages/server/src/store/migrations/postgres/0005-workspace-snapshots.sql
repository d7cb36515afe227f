-- Which state the session's workspace is in: the digest of the archive that holds it, `bare` while nothing needs one,
-- or `local-…` where only the machine that executed the last leg has it. Null for sessions of a single machine.
alter table session_states add column snapshot text collate "C";
