"""Why seats of a rehearsal are missing, and on which nodes they are."""
