"""Documents and mails, and how they become words."""
