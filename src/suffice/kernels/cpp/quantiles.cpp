// Order statistics of the columns of a matrix.
#include <algorithm>
#include <cstring>
#include <vector>

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

constexpr int64_t ROWS = 1024, COLUMNS = 8;  // read together
constexpr int64_t BUCKETS = 1 << 16;         // of keys with the same leading bits
constexpr int BUCKET_BITS = 48;              // the other bits of a key

int64_t bucket_of(int64_t key) { return (key >> BUCKET_BITS) + BUCKETS / 2; }

double number_of(int64_t key) {
    const int64_t bits = key < 0 ? -key : key;
    double out;
    std::memcpy(&out, &bits, sizeof(out));
    return key < 0 ? -out : out;
}

// One column: counts of keys in buckets, then the keys of the buckets that hold a quantile.
struct Selection {
    std::vector<uint32_t> count = std::vector<uint32_t>(BUCKETS);
    std::vector<int64_t> rank, bucket;       // of each quantile: its bucket, and its rank there
    std::vector<std::vector<int64_t>> keys;  // of each bucket with a quantile
    std::vector<int16_t> place;              // of each bucket among them, or -1
    int64_t total = 0, most = NO_KEY;

    void add(const int64_t *key, int64_t rows) {
        for (int64_t i = 0; i < rows; ++i) {
            if (key[i] == NO_KEY) continue;
            ++count[bucket_of(key[i])];
            most = std::max(most, key[i]);
        }
    }
    // The i-th of `parts` - 1 quantiles is the least key with a share of at least i / parts at or below it.
    void choose(int64_t parts) {
        for (const uint32_t each : count) total += each;
        place.assign(BUCKETS, -1);
        int64_t b = 0, below = 0;
        for (int64_t i = 1; i < parts && total; ++i) {
            const int64_t at = (i * total + parts - 1) / parts - 1;
            while (below + count[b] <= at) below += count[b++];
            if (place[b] < 0) {
                place[b] = static_cast<int16_t>(keys.size());
                keys.emplace_back();
                keys.back().reserve(count[b]);
            }
            bucket.push_back(place[b]);
            rank.push_back(at - below);
        }
    }
    void collect(const int64_t *key, int64_t rows) {
        for (int64_t i = 0; i < rows; ++i) {
            const int64_t at = key[i] == NO_KEY ? -1 : place[bucket_of(key[i])];
            if (at >= 0) keys[at].push_back(key[i]);
        }
    }
    void write(double *out) {
        for (size_t i = 0; i < rank.size(); ++i) {
            auto &all = keys[bucket[i]];
            const bool same = i && bucket[i] == bucket[i - 1];  // larger keys follow the one that was selected
            std::nth_element(all.begin() + (same ? rank[i - 1] : 0), all.begin() + rank[i], all.end());
            out[i] = number_of(all[rank[i]]);
        }
    }
};

// out (columns x parts) = the quantiles of each column, and its largest number; unchanged for a column without numbers.
void quantiles(const Matrix &x, int64_t parts, double *out) {
    const Kernels &run = kernels();
    struct Tile {
        Buffer numbers{ROWS * COLUMNS};
        std::vector<int64_t> keys = std::vector<int64_t>(ROWS * COLUMNS);
    };
    for_tasks((x.columns + COLUMNS - 1) / COLUMNS, [] { return Tile(); },
              [&](int64_t task, Tile &tile) {
                  const int64_t first = task * COLUMNS, columns = std::min(COLUMNS, x.columns - first);
                  std::vector<Selection> each(columns);
                  const auto pass = [&](auto use) {
                      for (int64_t row = 0; row < x.rows; row += ROWS) {
                          const int64_t rows = std::min(ROWS, x.rows - row);
                          run.bins.keys(x, row, rows, first, columns, nullptr, 0, tile.numbers.data(),
                                        tile.keys.data());
                          for (int64_t j = 0; j < columns; ++j) use(each[j], tile.keys.data() + j * rows, rows);
                      }
                  };
                  pass([](Selection &s, const int64_t *keys, int64_t rows) { s.add(keys, rows); });
                  for (Selection &s : each) s.choose(parts);
                  pass([](Selection &s, const int64_t *keys, int64_t rows) { s.collect(keys, rows); });
                  for (int64_t j = 0; j < columns; ++j) {
                      if (!each[j].total) continue;
                      double *const to = out + (first + j) * parts;
                      each[j].write(to);
                      to[parts - 1] = number_of(each[j].most);
                  }
              });
}

}  // namespace

void bind_quantiles(nb::module_ &m) {
    m.def(
        "quantiles",
        [](nb::handle x, Output out) {
            const Rows rows(x, true);
            const Matrix &view = rows.view();
            require(out.shape(0) == static_cast<size_t>(view.columns) && out.shape(1) > 0,
                    "out must have a row for each column");
            require(view.rows <= UINT32_MAX && out.shape(1) < 1 << 15, "there are too many rows or quantiles");
            nb::gil_scoped_release release;
            quantiles(view, static_cast<int64_t>(out.shape(1)), out.data());
        },
        "x"_a, "out"_a.noconvert());
}

}  // namespace suffice
