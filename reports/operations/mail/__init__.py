"""Reports by mail: the team's mailbox, and what is accepted from it."""
