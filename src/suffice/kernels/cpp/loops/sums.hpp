// Included by instruction_set.cpp, within its namespace: sums of each class.

void sums(const Matrix &x, const Membership &m, int64_t first, int64_t last, double *buffer, double *total) {
    const int64_t d = x.columns;
    each_member(x, m, first, last, 0, d, buffer, [=](const double *RESTRICT value, int64_t k, double w) {
        double *RESTRICT t = total + k * d;
        for (int64_t j = 0; j < d; ++j) t[j] += w * value[j];
    });
}

constexpr SumKernels sum_kernels = {sums};
