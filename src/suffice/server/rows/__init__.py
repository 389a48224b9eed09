"""Rows of requests: bodies that come in, what is asked about their rows, and answers that go out."""
