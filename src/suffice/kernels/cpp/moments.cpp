// Per-class weight, mean and centred sum of squares of each column.
#include <algorithm>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// Columns processed together. Accumulators of classes x columns stay within a few MB for any number of classes and
// columns; 64 columns are 512 bytes of each row.
int64_t slab_columns(int64_t classes, int64_t columns) {
    return std::min(columns, std::max<int64_t>(64, (int64_t{1} << 16) / std::max<int64_t>(classes, 1)));
}

// Owns the memory of a `Moments`.
class MomentStore {
  public:
    MomentStore(int64_t classes, int64_t first, int64_t columns, bool missing)
        : cells_(static_cast<size_t>(classes * columns)), weights_(missing ? cells_ : static_cast<size_t>(classes)),
          numbers_(6 * cells_ + 2 * weights_, 0.0), counts_(2 * static_cast<size_t>(classes), 0) {
        view_.classes = classes;
        view_.first = first;
        view_.columns = columns;
        double *at = numbers_.data();
        for (double **array : {&view_.mean, &view_.mean_low, &view_.m2, &view_.m2_low, &view_.sum, &view_.square}) {
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

// Whether rows can be read in place instead of being gathered.
bool rows_are_contiguous(const Matrix &x) {
    return !x.each && x.column_stride == 1 && (x.type == Type::f64 || x.type == Type::f32);
}

// Mean (as mean + mean_low) and centred sum of squares (as m2 + m2_low); classes x columns each, zero on entry.
void class_moments(const Matrix &x, const Membership &m, bool missing, double *weight, double *mean, double *mean_low,
                   double *m2, double *m2_low) {
    struct Part {
        Buffer buffer;
        std::vector<int32_t> order, starts;
        MomentStore store;
    };
    const MomentKernels &run = kernels().moments;
    const int64_t slab = slab_columns(m.classes, x.columns);
    for (int64_t first = 0; first < x.columns; first += slab) {
        const int64_t columns = std::min(slab, x.columns - first);
        const int64_t window = run.window_rows(m.classes, columns);
        // The first window of a block is not prefetched; long blocks have few of those.
        const int64_t step =
            window ? window * std::clamp<int64_t>(x.rows / 64 / window, 32, 128) : block_rows(m.classes);
        MomentStore whole(m.classes, first, columns, missing);
        const int64_t gathered = std::max(TILE, rows_are_contiguous(x) ? 0 : window) * columns;
        reduce_blocks((x.rows + step - 1) / step, 64 * m.classes * columns + 8 * gathered,
                      [&] {
                          return Part{Buffer(gathered), std::vector<int32_t>(window),
                                      std::vector<int32_t>(m.classes + 1),
                                      MomentStore(m.classes, first, columns, missing)};
                      },
                      [&](int64_t block, Part &part) {
                          const int64_t from = block * step, to = std::min(x.rows, (block + 1) * step);
                          Moments &out = part.store.view();
                          part.store.clear();
                          if (!run.grouped(x, m, from, to, missing, part.buffer.data(), part.order.data(),
                                           part.starts.data(), out))
                              run.moments(x, m, from, to, missing, part.buffer.data(), out);
                          run.finish(missing, out);
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

}  // namespace

void bind_moments(nb::module_ &m) {
    m.def(
        "class_moments",
        [](nb::object x, Codes codes, Table soft, Vector weights, bool missing, Output weight, Output mean,
           Output mean_low, Output m2, Output m2_low) {
            const Rows rows(x, true);
            const Matrix &view = rows.view();
            const Membership members = membership(view, codes, soft, weights, mean.shape(0));
            for (const Output &each : {weight, mean, mean_low, m2, m2_low})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            nb::gil_scoped_release release;
            class_moments(view, members, missing, weight.data(), mean.data(), mean_low.data(), m2.data(),
                          m2_low.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "missing"_a,
        "weight"_a.noconvert(), "mean"_a.noconvert(), "mean_low"_a.noconvert(), "m2"_a.noconvert(),
        "m2_low"_a.noconvert());

    m.def(
        "exact_moments",
        [](nb::object x, Codes codes, Table soft, Vector weights, bool missing, Table mean, Table mean_low, Output sum,
           Output sum_low, Output square, Output square_low) {
            const Rows rows(x);
            const Matrix &view = rows.view();
            const Membership members = membership(view, codes, soft, weights, mean.shape(0));
            for (const Table &each : {mean, mean_low})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            for (const Output &each : {sum, sum_low, square, square_low})
                require_shape(each, mean.shape(0), static_cast<size_t>(view.columns));
            nb::gil_scoped_release release;
            std::vector<double> buffer(TILE * static_cast<size_t>(view.columns));
            kernels().moments.exact(view, members, missing, mean.data(), mean_low.data(), buffer.data(), sum.data(),
                                    sum_low.data(), square.data(), square_low.data());
        },
        "x"_a, "codes"_a.noconvert().none(), "soft"_a.noconvert().none(), "weights"_a.noconvert().none(), "missing"_a,
        "mean"_a.noconvert(), "mean_low"_a.noconvert(), "sum"_a.noconvert(), "sum_low"_a.noconvert(),
        "square"_a.noconvert(), "square_low"_a.noconvert());
}

}  // namespace suffice
