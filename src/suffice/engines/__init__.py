"""Learning and predicting where the rows are: in query engines, and on the machines of a cluster.

`training_rows` turns a table of an engine into rows to learn from. `queried_model` lets the engine compute aggregates;
`partition_models` sends `worker` functions to the partitions, and merges the models that come back. `answers` predicts.
`suffice.sources` has one module for each engine.
"""
