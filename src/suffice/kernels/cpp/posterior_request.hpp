// Requests to kernels that score rows.
#pragma once

#include "binding.hpp"
#include "threads.hpp"

namespace suffice {

// A request whose arrays were checked for this many rows and classes. `out` must have the shape and type of the output.
class CheckedRequest {
  public:
    CheckedRequest(int output, const Vector &offset, nb::handle out, size_t rows, size_t classes);
    const PosteriorRequest &request() const { return request_; }

  private:
    nb::ndarray<nb::device::cpu> held_;
    PosteriorRequest request_;
};

// Runs work(first, last, buffer, invalid_row) over blocks of `step` rows, with buffers of `size` numbers; returns the
// first row without a posterior, or -1.
template <typename Work> int64_t score_blocks(int64_t rows, int64_t step, int64_t size, Work work) {
    struct Part {
        Buffer buffer;
        int64_t invalid_row = -1;
    };
    std::vector<Part> parts;
    parts.reserve(thread_count(rows));
    for_blocks(
        rows, step,
        [&] {
            parts.push_back({Buffer(size)});
            return &parts.back();
        },
        [&](int64_t first, int64_t last, Part *part) { work(first, last, part->buffer.data(), &part->invalid_row); });
    int64_t invalid_row = -1;
    for (const Part &part : parts)
        if (part.invalid_row >= 0 && (invalid_row < 0 || part.invalid_row < invalid_row))
            invalid_row = part.invalid_row;
    return invalid_row;
}

}  // namespace suffice
