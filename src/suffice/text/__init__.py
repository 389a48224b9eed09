"""Documents, and what is read of them before they are counted: ``suffice.text.mail`` reads mails."""
