"""Learning as functions on values: fit, update, merge, remove, tune, calibrate, and score held-out rows."""
