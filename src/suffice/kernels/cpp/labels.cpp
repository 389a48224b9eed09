// Positions of text labels among their sorted distinct values.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "binding.hpp"
#include "threads.hpp"

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

namespace suffice {
namespace {

constexpr int64_t BLOCK = 1 << 16;  // labels whose distinct values are collected together
constexpr int64_t MOST = 1 << 12;   // distinct labels; more are not classes, and sorting finds them as fast
constexpr uint64_t MULTIPLIER = 0x9e3779b97f4a7c15u;

using Characters = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Distinct values in the order of their appearance. `Same` compares a value with one that was found before.
class Distinct {
  public:
    // For a number of values, of which few may be distinct.
    explicit Distinct(int64_t values) {
        size_t size = 16;
        while (size < static_cast<size_t>(4 * std::min(values, MOST))) size *= 2;
        slot_.assign(size, -1);
    }

    // The number of the value at position `at`; -1 if there are too many.
    template <typename Same> int64_t number(uint64_t hash, int64_t at, Same same) {
        const uint64_t mask = slot_.size() - 1;
        for (uint64_t i = hash >> 40;; ++i) {
            int32_t &found = slot_[i & mask];
            if (found < 0) {
                if (static_cast<int64_t>(first_.size()) == MOST) return -1;
                found = static_cast<int32_t>(first_.size());
                first_.push_back(at);
                hash_.push_back(hash);
                return found;
            }
            if (hash_[found] == hash && same(first_[found])) return found;
        }
    }
    const std::vector<int64_t> &first() const { return first_; }
    uint64_t hash(int64_t number) const { return hash_[number]; }

  private:
    std::vector<int32_t> slot_;
    std::vector<int64_t> first_;  // where each value appeared first
    std::vector<uint64_t> hash_;
};

inline uint64_t mixed(uint64_t hash, uint64_t part) {
    hash = (hash ^ part) * MULTIPLIER;
    return hash ^ (hash >> 29);
}

uint64_t hash_of(const void *data, size_t bytes) {
    const char *at = static_cast<const char *>(data);
    uint64_t hash = bytes * MULTIPLIER, part;
    for (; bytes >= 8; at += 8, bytes -= 8) {
        std::memcpy(&part, at, 8);
        hash = mixed(hash, part);
    }
    part = 0;
    std::memcpy(&part, at, bytes);
    return mixed(mixed(hash, part), 0);
}

// The rank of each number by `less` on the positions where values appeared first; sorts those positions as well.
template <typename Less> std::vector<int64_t> ranks(std::vector<int64_t> &first, Less less) {
    std::vector<int64_t> order(first.size()), rank(first.size()), sorted;
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return less(first[a], first[b]); });
    for (size_t i = 0; i < order.size(); ++i)
        rank[order[i]] = static_cast<int64_t>(i), sorted.push_back(first[order[i]]);
    first = std::move(sorted);
    return rank;
}

// The codes of labels, and a row with each distinct label in ascending order; no rows if there are too many or if
// `number`, which numbers the rows first..last-1, returns false.
template <typename Number, typename Same, typename Less>
std::vector<int64_t> sorted_codes(int64_t rows, int64_t *codes, Number number, Same same, Less less) {
    const int64_t blocks = (rows + BLOCK - 1) / BLOCK;
    std::vector<Distinct> found(blocks, Distinct(std::min(rows, BLOCK)));
    std::atomic<bool> fails{false};
    for_tasks(
        blocks, [] { return 0; },
        [&](int64_t block, int) {
            if (!fails && !number(found[block], block * BLOCK, std::min(rows, (block + 1) * BLOCK))) fails = true;
        });
    if (fails) return {};
    Distinct all(MOST);
    std::vector<std::vector<int64_t>> numbers(blocks);
    for (int64_t block = 0; block < blocks; ++block)
        for (size_t k = 0; k < found[block].first().size(); ++k) {
            const int64_t at = found[block].first()[k];
            const uint64_t hash = found[block].hash(static_cast<int64_t>(k));
            numbers[block].push_back(all.number(hash, at, [&](int64_t other) { return same(at, other); }));
            if (numbers[block].back() < 0) return {};
        }
    std::vector<int64_t> first = all.first();
    const std::vector<int64_t> rank = ranks(first, less);
    for_tasks(
        blocks, [] { return 0; },
        [&](int64_t block, int) {
            for (int64_t &each : numbers[block]) each = rank[each];
            for (int64_t i = block * BLOCK; i < std::min(rows, (block + 1) * BLOCK); ++i)
                codes[i] = numbers[block][codes[i]];
        });
    return first;
}

// Labels of a fixed number of characters.
std::vector<int64_t> fixed_width_codes(const uint32_t *text, int64_t rows, int64_t width, int64_t *codes) {
    const size_t bytes = static_cast<size_t>(width) * sizeof(uint32_t);
    const auto same = [&](int64_t a, int64_t b) { return !std::memcmp(text + a * width, text + b * width, bytes); };
    const auto number = [&](Distinct &found, int64_t start, int64_t end) {
        for (int64_t i = start; i < end; ++i) {
            const uint64_t hash = hash_of(text + i * width, bytes);
            codes[i] = found.number(hash, i, [&](int64_t other) { return same(i, other); });
            if (codes[i] < 0) return false;
        }
        return true;
    };
    return sorted_codes(rows, codes, number, same, [&](int64_t a, int64_t b) {
        return std::lexicographical_compare(text + a * width, text + (a + 1) * width, text + b * width,
                                            text + (b + 1) * width);
    });
}

// The same for objects, all of which must be strings. Several threads read them while the caller holds the GIL: strings
// do not change. Equal labels are often the same object, so the numbers of the last objects are remembered.
std::vector<int64_t> string_codes(PyObject *const *labels, int64_t rows, int64_t *codes) {
    constexpr int BITS = 8;
    const auto bytes = [](PyObject *each) {
        return static_cast<size_t>(PyUnicode_GET_LENGTH(each)) * static_cast<size_t>(PyUnicode_KIND(each));
    };
    const auto same = [&](int64_t i, int64_t j) {
        PyObject *const a = labels[i], *const b = labels[j];
        return PyUnicode_KIND(a) == PyUnicode_KIND(b) && PyUnicode_GET_LENGTH(a) == PyUnicode_GET_LENGTH(b) &&
               !std::memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), bytes(a));
    };
    const auto number = [&](Distinct &found, int64_t start, int64_t end) {
        std::pair<PyObject *, int64_t> last[1 << BITS] = {};
        for (int64_t i = start; i < end; ++i) {
            if (i + 16 < end && labels[i + 16]) {
                PREFETCH(labels[i + 16]);
                PREFETCH(reinterpret_cast<const char *>(labels[i + 16]) + sizeof(PyASCIIObject));  // the characters
            }
            PyObject *label = labels[i];
            auto &known = last[(reinterpret_cast<uintptr_t>(label) * MULTIPLIER) >> (64 - BITS)];
            if (label && known.first == label) {
                codes[i] = known.second;
                continue;
            }
            if (!label || !PyUnicode_CheckExact(label) || !PyUnicode_IS_READY(label)) return false;
            const uint64_t hash = hash_of(PyUnicode_DATA(label), bytes(label));
            codes[i] = found.number(hash, i, [&](int64_t other) { return same(i, other); });
            if (codes[i] < 0) return false;
            known = {label, codes[i]};
        }
        return true;
    };
    return sorted_codes(rows, codes, number, same,
                        [&](int64_t a, int64_t b) { return PyUnicode_Compare(labels[a], labels[b]) < 0; });
}

// A view of a one-dimensional array of Python objects.
class Objects {
  public:
    explicit Objects(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) throw nb::python_error();
        if (view_.ndim != 1 || view_.itemsize != sizeof(PyObject *) || !view_.format ||
            std::strcmp(view_.format, "O")) {
            PyBuffer_Release(&view_);
            throw nb::type_error("labels must be a contiguous array of objects");
        }
    }
    Objects(const Objects &) = delete;
    ~Objects() { PyBuffer_Release(&view_); }
    PyObject *const *data() const { return static_cast<PyObject *const *>(view_.buf); }
    int64_t size() const { return view_.shape[0]; }

  private:
    Py_buffer view_;
};

}  // namespace

void bind_labels(nb::module_ &m) {
    m.def(
        "fixed_width_codes",
        [](Characters text, Offsets codes) {
            require(codes.shape(0) == text.shape(0), "codes and text differ in length");
            std::vector<int64_t> first;
            {
                nb::gil_scoped_release release;
                first = fixed_width_codes(text.data(), static_cast<int64_t>(text.shape(0)),
                                          static_cast<int64_t>(text.shape(1)), codes.data());
            }
            return vector_array<int64_t>(std::move(first));
        },
        "text"_a.noconvert(), "codes"_a.noconvert());

    m.def(
        "string_codes",
        [](nb::list labels, Offsets codes) {
            require(codes.shape(0) == labels.size(), "codes and labels differ in length");
            return vector_array<int64_t>(
                string_codes(PySequence_Fast_ITEMS(labels.ptr()), static_cast<int64_t>(labels.size()), codes.data()));
        },
        "labels"_a.noconvert(), "codes"_a.noconvert());

    m.def(
        "string_codes",
        [](nb::handle labels, Offsets codes) {
            const Objects objects(labels);
            require(static_cast<int64_t>(codes.shape(0)) == objects.size(), "codes and labels differ in length");
            return vector_array<int64_t>(string_codes(objects.data(), objects.size(), codes.data()));
        },
        "labels"_a, "codes"_a.noconvert());
}

}  // namespace suffice
