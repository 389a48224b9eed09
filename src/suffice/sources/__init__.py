"""Where rows come from: arrays, data frames, queries and files, one module for each kind of source."""
