// Bayes' rule: posteriors, evidence and decisions from log p(x, y).
#include "binding.hpp"
#include "threads.hpp"

namespace suffice {
namespace {

// What a thread needs, and the first row it met that has no answer.
struct Part {
    Buffer tile;
    int64_t lost = -1;
};

// Runs work(first, last, part) over all rows; the first row that has no answer, or -1.
template <typename Work> int64_t in_blocks(int64_t rows, int64_t classes, Work work) {
    nb::gil_scoped_release release;
    std::vector<Part> parts;
    parts.reserve(std::max(1, thread_count(rows)));
    apart(rows, std::max<int64_t>(TILE, (1 << 14) / std::max<int64_t>(classes, 1) / TILE * TILE),
          [&] {
              parts.push_back({Buffer((classes + 3) * TILE)});
              return &parts.back();
          },
          [&](int64_t first, int64_t last, Part *part) { work(first, last, *part); });
    int64_t lost = -1;
    for (const Part &part : parts)
        if (part.lost >= 0 && (lost < 0 || part.lost < lost)) lost = part.lost;
    return lost;
}

template <Answer answer> int64_t posterior(const Table &joint, double *out) {
    const int64_t classes = joint.shape(1);
    return in_blocks(joint.shape(0), classes, [&](int64_t first, int64_t last, Part &part) {
        kernels().posterior.posterior(classes, first, last, joint.data(), answer, part.tile.data(), out, &part.lost);
    });
}

void require_alike(const Table &joint, const Output &out) {
    require(out.shape(0) == joint.shape(0) && out.shape(1) == joint.shape(1), "joint and out differ in shape");
}

}  // namespace

void bind_posterior(nb::module_ &m) {
    m.def(
        "posterior",
        [](Table joint, Output out) {
            require_alike(joint, out);
            return posterior<Answer::probability>(joint, out.data());
        },
        "joint"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "log_posterior",
        [](Table joint, Output out) {
            require_alike(joint, out);
            return posterior<Answer::logarithm>(joint, out.data());
        },
        "joint"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "log_evidence",
        [](Table joint, Weights out) {
            require(out.shape(0) == joint.shape(0), "joint and out differ in length");
            return posterior<Answer::evidence>(joint, out.data());
        },
        "joint"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "add_to_rows",
        [](Vector offset, Output rows) {
            const int64_t classes = rows.shape(1);
            require(offset.shape(0) == rows.shape(1), "offset must have an entry for each class");
            nb::gil_scoped_release release;
            apart(rows.shape(0), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(classes, 1)), [] { return 0; },
                  [&](int64_t first, int64_t last, int) {
                      kernels().posterior.add_to_rows(classes, first, last, offset.data(), rows.data());
                  });
        },
        "offset"_a.noconvert(), "rows"_a.noconvert());
    m.def(
        "decide",
        [](Table joint, Offsets out) {
            require(out.shape(0) == joint.shape(0), "joint and out differ in length");
            const int64_t classes = joint.shape(1);
            return in_blocks(joint.shape(0), classes, [&](int64_t first, int64_t last, Part &part) {
                kernels().posterior.decide(classes, first, last, joint.data(), part.tile.data(), out.data(),
                                           &part.lost);
            });
        },
        "joint"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace suffice
