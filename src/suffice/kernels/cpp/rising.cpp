// Sums of log-gamma ratios over the cells of sparse rows: Dirichlet-multinomial scores.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "binding.hpp"
#include "kernels.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr double LARGE = 16.0;  // Stirling's series has sixteen digits from here on
constexpr int TERMS = 12;       // of the expansion in 1/a, for a of at least LARGE and LARGE times the rise
constexpr int64_t FEW = 1 << 12;

double correction(double z) {
    const double s = 1 / (z * z);
    return (1 / 12.0 - s * (1 / 360.0 - s * (1 / 1260.0 - s * (1 / 1680.0 - s / 1188.0)))) / z;
}

// log gamma(a + x) / gamma(a) for a > 0 and x >= 0.
double log_rise(double a, double x) {
    if (x == 1) return std::log(a);
    if (x == 2) return std::log(a * (a + 1));
    if (x == 3) return std::log(a * (a + 1) * (a + 2));
    if (a < LARGE) return std::lgamma(a + x) - std::lgamma(a);
    return (a - 0.5) * std::log1p(x / a) + x * (std::log(a + x) - 1) + correction(a + x) - correction(a);
}

// The expansion log gamma(a + x)/gamma(a) = x log a + sum over m of (-1)^(m+1) (B_(m+1)(x) - B_(m+1)) / (m (m+1) a^m)
// with the Bernoulli polynomials B; its coefficients depend on x alone.
class Expansion {
  public:
    Expansion() {
        double bernoulli[TERMS + 2] = {1,         -0.5, 1 / 6.0,  0, -1 / 30.0,     0, 1 / 42.0, 0,
                                       -1 / 30.0, 0,    5 / 66.0, 0, -691 / 2730.0, 0};
        for (int m = 1; m <= TERMS; ++m) {
            const int n = m + 1;
            double choose = 1;
            for (int k = 1; k <= n; ++k) {
                choose = choose * (n - k + 1) / k;
                power_[m - 1][k - 1] = (m % 2 ? 1.0 : -1.0) * choose * bernoulli[n - k] / (m * n);
            }
        }
    }
    void coefficients(double x, double *out) const {
        for (int m = 1; m <= TERMS; ++m) {
            double sum = 0;
            for (int k = m; k >= 0; --k) sum = (sum + power_[m - 1][k]) * x;
            out[m - 1] = sum;
        }
    }

  private:
    double power_[TERMS][TERMS + 1];
};

struct RisingRows {
    const int64_t *bounds, *indices, *codes;
    const double *draws;                  // of each cell
    const double *own;                    // start of the rise of each cell for the class of its row
    const double *start, *log, *inverse;  // columns x classes: a, its logarithm and 1/a
    int64_t columns, classes;
};

// Writes the scores of rows first..last-1; `part` holds two numbers for each class. Returns whether all indices are
// inside the matrix.
bool add_rows(const RisingRows &x, const Expansion &expansion, int64_t first, int64_t last, double *part, double *out) {
    const int64_t n = x.classes;
    double *value = part, *seen = part + n;
    double c[TERMS], known = 0;  // coefficients of this rise
    for (int64_t row = first; row < last; ++row) {
        double *to = out + row * n;
        const int64_t own = x.codes[row];
        for (int64_t k = 0; k < n; ++k) to[k] = 0;
        for (int64_t cell = x.bounds[row]; cell < x.bounds[row + 1]; ++cell) {
            const int64_t j = x.indices[cell];
            if (j < 0 || j >= x.columns) return false;
            const double draws = x.draws[cell];
            if (!(draws > 0)) continue;
            const double *a = x.start + j * n, *log = x.log + j * n, *u = x.inverse + j * n;
            const bool has_own = own >= 0 && own < n;
            if (draws == 1) {
                const double before = has_own ? to[own] : 0;
                for (int64_t k = 0; k < n; ++k) to[k] += log[k];
                if (has_own) to[own] = before + (x.own[cell] > 0 ? std::log(x.own[cell]) : -HUGE_VAL);
                continue;
            }
            if (draws != known) expansion.coefficients(known = draws, c);
            const double rise = std::max(draws, 1.0), least = LARGE * rise;
            double smallest = HUGE_VAL;  // of those that use the expansion
            for (int64_t k = 0; k < n; ++k) smallest = a[k] >= least && a[k] < smallest ? a[k] : smallest;
            // The terms fall by at least rise/a each.
            const int terms = smallest >= 256 * rise ? 6 : smallest >= 64 * rise ? 9 : TERMS;
            if (smallest < HUGE_VAL) kernels().posterior.add_series(n, terms, c, draws, log, u, value);
            int64_t distinct = 0;  // classes often have the same few counts of a rare word
            for (int64_t k = 0; k < n; ++k) {
                if (a[k] >= least || k == own) continue;
                int64_t same = 0;
                while (same < distinct && a[static_cast<int64_t>(seen[same])] != a[k]) ++same;
                if (same < distinct) value[k] = value[static_cast<int64_t>(seen[same])];
                else {
                    value[k] = a[k] > 0 ? log_rise(a[k], draws) : -HUGE_VAL;
                    seen[distinct++] = static_cast<double>(k);
                }
            }
            if (has_own) value[own] = x.own[cell] > 0 ? log_rise(x.own[cell], draws) : -HUGE_VAL;
            for (int64_t k = 0; k < n; ++k) to[k] += value[k];
        }
    }
    return true;
}

}  // namespace

void bind_rising(nb::module_ &m) {
    m.def(
        "rising_scores",
        [](Codes bounds, Codes indices, Vector draws, Vector own, Codes codes, Table start, Table log, Table inverse,
           Output out) {
            const size_t rows = codes.shape(0), cells = indices.shape(0);
            require(bounds.shape(0) == rows + 1 && draws.shape(0) == cells && own.shape(0) == cells &&
                        out.shape(0) == rows && out.shape(1) == start.shape(1),
                    "arrays must have an entry for each row or cell");
            for (const Table &each : {log, inverse}) require_shape(each, start.shape(0), start.shape(1));
            const RisingRows x{bounds.data(),
                               indices.data(),
                               codes.data(),
                               draws.data(),
                               own.data(),
                               start.data(),
                               log.data(),
                               inverse.data(),
                               static_cast<int64_t>(start.shape(0)),
                               static_cast<int64_t>(start.shape(1))};
            bool fits = x.bounds[0] == 0 && x.bounds[rows] == static_cast<int64_t>(cells);
            for (size_t i = 0; i < rows; ++i) fits &= x.bounds[i] <= x.bounds[i + 1];
            require(fits, "invalid sparse matrix: indptr decreases or exceeds the number of cells");
            std::atomic<bool> inside{true};
            {
                nb::gil_scoped_release release;
                const Expansion expansion;
                // Blocks of about the same number of cells.
                std::vector<int64_t> at{0};
                for (int64_t i = 0; i < static_cast<int64_t>(rows); ++i)
                    if (x.bounds[i + 1] - x.bounds[at.back()] >= FEW) at.push_back(i + 1);
                if (at.back() < static_cast<int64_t>(rows)) at.push_back(static_cast<int64_t>(rows));
                for_tasks(
                    static_cast<int64_t>(at.size()) - 1, [&] { return std::vector<double>(2 * x.classes); },
                    [&](int64_t i, std::vector<double> &part) {
                        if (!add_rows(x, expansion, at[i], at[i + 1], part.data(), out.data())) inside = false;
                    });
            }
            require(inside, "invalid sparse matrix: an index is outside its shape");
        },
        "bounds"_a.noconvert(), "indices"_a.noconvert(), "draws"_a.noconvert(), "own"_a.noconvert(),
        "codes"_a.noconvert(), "start"_a.noconvert(), "log"_a.noconvert(), "inverse"_a.noconvert(),
        "out"_a.noconvert());
}

}  // namespace suffice
