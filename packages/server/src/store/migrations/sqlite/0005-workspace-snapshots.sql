-- Which state the session's workspace is in: the digest of the archive that holds it, or `local-…` where only the
-- machine that executed the last leg has it. Null while there is nothing to carry from one machine to another.
alter table session_states add column snapshot text;
