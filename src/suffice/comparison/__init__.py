"""Generative models beside their discriminative twin: scores and learning curves."""
