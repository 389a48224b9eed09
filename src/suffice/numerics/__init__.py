"""Arithmetic with more digits than float64 (compensated sums, double-double numbers, exact products), and types."""
