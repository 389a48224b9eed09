"""Mails: what a message says, as one text for a classifier.

::

    where mails lie          a mail's bytes               its parts                     one text
    boxes.py       ──▶       structure.py       ──▶       transfer.py, charsets.py ──▶  message.py
    (files, mbox, Maildir)   (headers.py)                 markup.py (HTML)              (tokens of headers)

`read_mail` reads one message, `read_mails` all of a file or folder, one at a time, and `load_mails` whole classes.

Whoever sends a mail chooses its bytes, and may want the filter to stop. So every step here takes time in proportion to
the bytes, and nesting, parts and sizes are bounded. Python's own parsers do not promise that: 1 MB of nested parts
takes ``email.parser`` some 20 s or a RecursionError, 0.2 MB of one Content-Type takes its modern policy minutes, and
0.1 MB of tags that never end keeps ``html.parser`` busy for a minute and a half. On mails that are in order they are
what the tests compare with.
"""

from suffice.text.mail.boxes import read_mails
from suffice.text.mail.loading import Mails, load_mails
from suffice.text.mail.message import Mail, Skipped, read_mail

__all__ = ["Mail", "Mails", "Skipped", "load_mails", "read_mail", "read_mails"]
