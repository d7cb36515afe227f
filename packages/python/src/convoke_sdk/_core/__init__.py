"""Everything that the client decides. Nothing in this folder reads, sleeps or locks: it asks for that (`effects`)."""
