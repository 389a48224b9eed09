#include "drivers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "compensated.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

namespace suffice {
namespace {

// Rows per block: a function of the shape alone, so that the blocks, and with them the result, are
// the same for every number of threads. Many classes want long blocks, since merging costs
// classes x columns per block.
int64_t block_rows(int64_t classes) { return std::max<int64_t>(4096, 16 * classes); }

// Columns that are treated together. Classes x columns accumulators stay within a few MB however
// many classes and columns there are; 64 columns are 512 bytes of each row.
int64_t slab_columns(int64_t classes, int64_t columns) {
    return std::min(columns, std::max<int64_t>(64, (int64_t{1} << 16) / std::max<int64_t>(classes, 1)));
}

// How many threads to use. A forked child has none of its parent's, and waiting for them would be forever.
int thread_count(int64_t blocks) {
#ifdef _OPENMP
#ifndef _WIN32
    static const pid_t home = getpid();
    if (getpid() != home) return 1;
#endif
    return static_cast<int>(std::min<int64_t>(blocks, omp_get_max_threads()));
#else
    (void)blocks;
    return 1;
#endif
}

// Calls it when the library is loaded, so that `home` is the process that loaded it.
const int loaded = thread_count(1);

// Runs work(block, part) for each block, and merge(part) in the order of the blocks. Each thread has
// one part, made by calling `make` (before the threads start: an exception could not leave them).
template <typename Make, typename Work, typename Merge>
void in_order(int64_t blocks, Make make, Work work, Merge merge) {
    const int threads = thread_count(blocks);
    std::vector<decltype(make())> parts;
    for (int i = 0; i < std::max(threads, 1); ++i) parts.push_back(make());
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            auto &part = parts[omp_get_thread_num()];
#pragma omp for ordered schedule(static, 1)
            for (int64_t block = 0; block < blocks; ++block) {
                work(block, part);
#pragma omp ordered
                merge(part);
            }
        }
        return;
    }
#endif
    for (int64_t block = 0; block < blocks; ++block) {
        work(block, parts[0]);
        merge(parts[0]);
    }
}

// The memory behind a `Moments`.
class MomentStore {
  public:
    MomentStore(int64_t classes, int64_t first, int64_t columns, bool missing)
        : cells_(static_cast<size_t>(classes * columns)),
          weights_(missing ? cells_ : static_cast<size_t>(classes)),
          numbers_(6 * cells_ + 2 * weights_, 0.0),
          counts_(2 * static_cast<size_t>(classes), 0) {
        view_.classes = classes;
        view_.first = first;
        view_.columns = columns;
        double *at = numbers_.data();
        for (double **array : {&view_.mean, &view_.mean_low, &view_.m2, &view_.m2_low, &view_.sum,
                               &view_.square}) {
            *array = at;
            at += cells_;
        }
        view_.weight = at;
        view_.chunk_weight = at + weights_;
        view_.rows = counts_.data();
        view_.chunk_rows = counts_.data() + classes;
    }

    MomentStore(MomentStore &&) noexcept = default;  // vectors keep their memory when moved
    MomentStore(const MomentStore &) = delete;

    Moments &view() { return view_; }
    void clear() {
        std::fill(numbers_.begin(), numbers_.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), 0);
    }

  private:
    size_t cells_, weights_;
    std::vector<double> numbers_;
    std::vector<int64_t> counts_;
    Moments view_;
};

}  // namespace

void class_sums(const Matrix &x, const Membership &m, double *total) {
    struct Part {
        std::vector<double> buffer, total;
    };
    const int64_t cells = m.classes * x.columns, step = block_rows(m.classes);
    const Kernels &run = kernels();
    in_order((x.rows + step - 1) / step,
             [&] { return Part{std::vector<double>(TILE * x.columns), std::vector<double>(cells)}; },
             [&](int64_t block, Part &part) {
                 std::fill(part.total.begin(), part.total.end(), 0.0);
                 run.sums(x, m, block * step, std::min(x.rows, (block + 1) * step), part.buffer.data(),
                          part.total.data());
             },
             [&](Part &part) {
                 for (int64_t i = 0; i < cells; ++i) total[i] += part.total[i];
             });
}

void class_moments(const Matrix &x, const Membership &m, bool missing, double *weight, double *mean,
                   double *mean_low, double *m2, double *m2_low) {
    struct Part {
        std::vector<double> buffer;
        MomentStore store;
    };
    const Kernels &run = kernels();
    const int64_t step = block_rows(m.classes), slab = slab_columns(m.classes, x.columns);
    for (int64_t first = 0; first < x.columns; first += slab) {
        const int64_t columns = std::min(slab, x.columns - first);
        MomentStore whole(m.classes, first, columns, missing);
        in_order((x.rows + step - 1) / step,
                 [&] { return Part{std::vector<double>(TILE * columns), MomentStore(m.classes, first, columns, missing)}; },
                 [&](int64_t block, Part &part) {
                     part.store.clear();
                     run.moments(x, m, block * step, std::min(x.rows, (block + 1) * step), missing,
                                 part.buffer.data(), part.store.view());
                     run.finish(missing, part.store.view());
                 },
                 [&](Part &part) { run.merge(missing, part.store.view(), whole.view()); });
        const Moments &w = whole.view();
        for (int64_t k = 0; k < m.classes; ++k)
            for (int64_t j = 0; j < columns; ++j) {
                const int64_t from = k * columns + j, to = k * x.columns + first + j;
                weight[to] = w.weight[missing ? from : k];
                mean[to] = w.mean[from];
                mean_low[to] = w.mean_low[from];
                m2[to] = w.m2[from];
                m2_low[to] = w.m2_low[from];
            }
    }
}

int64_t centred_rows(const Membership &m, int64_t rows) {
    return (m.soft ? rows * m.classes : rows) + m.classes;
}

void centre_block(const Matrix &x, const Membership &m, double *weight, double *mean, double *mean_low,
                  double *squares, double *squares_low, int64_t *offsets, double *out) {
    const Kernels &run = kernels();
    const int64_t classes = m.classes, d = x.columns;
    std::vector<double> part(classes, 0.0), buffer(TILE * d), shift(mean, mean + classes * d),
        sum(classes * d, 0.0), low(classes * d), chunk(classes * d, 0.0);
    std::vector<int64_t> count(classes, 0), chunk_rows(classes, 0);

    const auto member = [&](int64_t row, int64_t k, double w) {
        if (count[k]++ == 0 && weight[k] == 0) {
            // A class that is new is centred on its first row until its mean is known.
            for (int64_t j = 0; j < d; ++j) {
                const int64_t at = row * x.row_stride + j * x.column_stride;
                shift[k * d + j] = x.single ? static_cast<const float *>(x.data)[at]
                                            : static_cast<const double *>(x.data)[at];
            }
        }
        part[k] += w;
    };
    for (int64_t i = 0; i < x.rows; ++i) {
        const double w = m.weights ? m.weights[i] : 1.0;
        if (!(w > 0)) continue;
        if (m.codes) {
            if (m.codes[i] >= 0 && m.codes[i] < classes) member(i, m.codes[i], w);
        } else {
            for (int64_t k = 0; k < classes; ++k)
                if (w * m.soft[i * classes + k] > 0) member(i, k, w * m.soft[i * classes + k]);
        }
    }

    run.shifted_sums(x, m, shift.data(), buffer.data(), sum.data());

    std::vector<int64_t> next(classes);
    int64_t at = 0;
    for (int64_t k = 0; k < classes; ++k) {
        offsets[k] = next[k] = at;
        if (count[k] == 0) continue;
        const double n = part[k], past = weight[k], share = n / (past + n);
        const double root = std::sqrt(past * share);
        double *join = out + (at + count[k]) * d;
        for (int64_t j = k * d; j < (k + 1) * d; ++j) {
            // The block's mean is shift + offset, kept in two doubles.
            const double offset = sum[j] / n;
            double high;
            two_sum(shift[j], offset, high, low[j]);
            if (past > 0) {
                const double delta = offset - mean_low[j];
                join[j - k * d] = root * delta;
                add(squares[j], squares_low[j], past * share * delta * delta);
                add(mean[j], mean_low[j], delta * share);
            } else {
                mean[j] = high;
                mean_low[j] = low[j];
            }
            shift[j] = high;
        }
        at += count[k] + (past > 0 ? 1 : 0);
        weight[k] = past + n;
    }
    offsets[classes] = at;

    run.centre(x, m, shift.data(), low.data(), next.data(), buffer.data(), chunk.data(), chunk_rows.data(), squares,
               squares_low, out);
}

void diagonal_log_likelihood(const Matrix &x, const Diagonal &p, bool missing, double *out) {
    const Kernels &run = kernels();
    const int64_t step = 1024, blocks = (x.rows + step - 1) / step;
    in_order(blocks, [&] { return std::vector<double>((x.columns + 2) * TILE); },
             [&](int64_t block, std::vector<double> &buffer) {
                 run.diagonal_log_likelihood(x, p, missing, block * step, std::min(x.rows, (block + 1) * step),
                                             buffer.data(), out);
             },
             [](std::vector<double> &) {});
}

void left_out(const Matrix &x, const LeftOut &p, const int64_t *codes, const double *weights, const double *added,
              bool others, double *out, double *least) {
    const Kernels &run = kernels();
    const int64_t step = 1024, blocks = (x.rows + step - 1) / step;
    in_order(blocks, [&] { return std::vector<double>(x.columns); },
             [&](int64_t block, std::vector<double> &buffer) {
                 run.left_out(x, p, codes, weights, added, others, block * step, std::min(x.rows, (block + 1) * step),
                              buffer.data(), out, least);
             },
             [](std::vector<double> &) {});
}

}  // namespace suffice
