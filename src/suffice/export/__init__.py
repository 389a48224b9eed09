"""Fitted models for other programs: queries, graphs of ONNX, objects of scikit-learn, and JSON.

All are made from a `suffice.learning.scoring_rule.ScoringRule`, which says how a model scores rows. The methods
``to_sql``, ``to_onnx``, ``to_sklearn`` and ``to_json`` of the estimators call this package.
"""
