"""Arithmetic beyond float64 (compensated sums, double-double numbers, exact products), special functions, types."""
