"""Mail: the text of each message, for a classifier.

::

    files and folders        a message's bytes            its parts                     one text
    boxes.py       ──▶       structure.py       ──▶       transfer.py, charsets.py ──▶  message.py
    (files, mbox, Maildir)   (headers.py)                 markup.py (HTML)              (tokens of headers)

`read_mail` reads one message, `read_mails` all messages of a file or folder one at a time, and `load_mails` whole
classes.

The sender chooses the bytes of a message and may want to stop the filter. So every step here takes time proportional to
the number of bytes, and nesting, parts and sizes are bounded. Python's own parsers do not guarantee that: for 1 MB of
nested parts ``email.parser`` takes about 20 s or raises a RecursionError, for 0.2 MB of one Content-Type its modern
policy takes minutes, and for 0.1 MB of unclosed tags ``html.parser`` takes a minute and a half. The tests compare with
them on well-formed messages.
"""

from suffice.text.mail.boxes import read_mails
from suffice.text.mail.loading import Mails, load_mails
from suffice.text.mail.message import Mail, Skipped, read_mail

__all__ = ["Mail", "Mails", "Skipped", "load_mails", "read_mail", "read_mails"]
