// Passes over whole matrices, in fixed blocks of rows.
#pragma once

#include "kernels.hpp"

namespace suffice {

// total (classes x columns) += per-class weighted sums.
void class_sums(const Matrix &x, const Membership &m, double *total);

// Per-class weight, mean (as mean + mean_low) and centred sum of squares (as m2 + m2_low); classes x
// columns each, zero on entry.
void class_moments(const Matrix &x, const Membership &m, bool missing, double *weight, double *mean,
                   double *mean_low, double *m2, double *m2_low);

// Centres one block of rows on its class means for a following matrix product, and merges those
// means into the running ones (classes x columns; `weight` has one entry per class).
//
// Group k of `out` is rows offsets[k]..offsets[k+1]-1: sqrt(w) (x - mean) of its members, and one row
// sqrt(n_a n_b / (n_a + n_b)) (mean_b - mean_a) that joins the block to what came before. The sum of
// outer products of a group is what the block adds to the scatter matrix of its class. The diagonal of
// that matrix is also summed here, in two doubles (classes x columns), for all its digits.
void centre_block(const Matrix &x, const Membership &m, double *weight, double *mean, double *mean_low,
                  double *squares, double *squares_low, int64_t *offsets, double *out);

// How many rows centre_block writes for this membership at most.
int64_t centred_rows(const Membership &m, int64_t rows);

// out (rows x classes) = log density of each row under each class.
void diagonal_log_likelihood(const Matrix &x, const Diagonal &p, bool missing, double *out);

// The log density of each row under the classes without it; see Kernels::left_out.
void left_out(const Matrix &x, const LeftOut &p, const int64_t *codes, const double *weights, const double *added,
              bool others, double *out, double *least);

}  // namespace suffice
