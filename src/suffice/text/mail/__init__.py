"""Reads mails as texts for a classifier.

::

    files and folders        a message's bytes            its parts                     one text
    boxes.py       ──▶       structure.py       ──▶       transfer.py, charsets.py ──▶  message.py
    (files, mbox, Maildir)   (headers.py)                 markup.py (HTML)              (tokens of headers)

`read_mail` reads one message, `read_mails` reads all messages of a file or folder one at a time, and `load_mails` reads
all messages of each class.

The sender of a message may try to stop the filter with hostile bytes. Every step here therefore takes time proportional
to the number of bytes, and nesting, parts and sizes are bounded. Python's own parsers do not guarantee that:
``email.parser`` takes about 20 s, or raises a RecursionError, for 1 MB of nested parts; its modern policy takes minutes
for a Content-Type of 0.2 MB; and ``html.parser`` takes a minute and a half for 0.1 MB of unclosed tags. On well-formed
messages, the tests compare with Python's parsers.
"""

from suffice.text.mail.boxes import read_mails
from suffice.text.mail.loading import Mails, load_mails
from suffice.text.mail.message import Mail, Skipped, read_mail

__all__ = ["Mail", "Mails", "Skipped", "load_mails", "read_mail", "read_mails"]
