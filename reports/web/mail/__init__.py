"""Pages of the mailbox in which a team receives reports."""
