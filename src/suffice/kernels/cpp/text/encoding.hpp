// Documents encoded as rows of a sparse matrix, and scored as sums over their words.
#pragma once

#include <cstdlib>
#include <new>

#include "merged_vocabulary.hpp"

namespace suffice::text {

// An array of unknown final size. Memory that was not written yet is not committed, and the system moves large arrays
// without copying.
template <typename T> class GrowingArray {
  public:
    GrowingArray() = default;
    GrowingArray(GrowingArray &&other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
        other.data_ = nullptr;
    }
    ~GrowingArray() { std::free(data_); }

    size_t size() const { return size_; }
    T *data() { return data_; }
    T &operator[](size_t i) { return data_[i]; }
    T *release() {
        T *out = data_;
        data_ = nullptr;
        return out;
    }
    // Makes room for `count` more elements; returns a pointer to the first.
    T *more(size_t count) {
        if (size_ + count > capacity_) {
            const size_t larger = std::max(size_ + count, capacity_ + capacity_ / 2);
            void *fresh = std::realloc(data_, larger * sizeof(T));
            if (!fresh) throw std::bad_alloc();
            data_ = static_cast<T *>(fresh);
            capacity_ = larger;
        }
        size_ += count;
        return data_ + size_ - count;
    }

  private:
    T *data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

// Rows of a sparse matrix, with increasing columns in each row.
struct Encoded {
    Packed words;  // words of the columns, if they were learned
    std::vector<int64_t> starts{0};
    GrowingArray<int32_t> columns;
    GrowingArray<int64_t> counts;
};

// Encodes the words of a vocabulary, or all words that occur if it is null.
Encoded encode_words(const Documents &documents, const TokenRules &rules, const Vocabulary *vocabulary);

// Adds the slope (vocabulary, classes) of each known word of a document to the scores (documents, classes), once per
// occurrence or once per distinct word, and counts the words added.
void score_words(const Documents &documents, const TokenRules &rules, const Vocabulary &vocabulary, const double *slope,
                 int64_t classes, bool distinct, double *scores, double *lengths);

}  // namespace suffice::text
