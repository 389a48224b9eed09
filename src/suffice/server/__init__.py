"""A server for fitted models: it predicts, explains, learns, unlearns and watches over HTTP.

`settings` has the limits, `hosting` the models that are served, `routes` what each address does, and `app` puts them
together. Rows come in and answers go out through `rows/`; `log/` keeps learned rows on disk before they are
acknowledged. `suffice serve` runs the server; docs/serving.md describes it.
"""
