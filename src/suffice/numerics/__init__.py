"""Arithmetic beyond one double: compensated sums, double-double numbers, exact products; and special functions."""
