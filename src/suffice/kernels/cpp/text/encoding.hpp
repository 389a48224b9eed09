// Documents as rows of a sparse matrix, and as sums of what their words say.
#pragma once

#include <cstdlib>
#include <new>

#include "merged_vocabulary.hpp"

namespace suffice::text {

// Numbers of which it is not known before how many there will be. What is not written yet takes no memory: large pieces
// are moved by the system, not copied.
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
    // Room for so many more; their place.
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

// Rows of a sparse matrix: columns rise in each.
struct Encoded {
    Packed words;  // of the columns, if they were learned
    std::vector<int64_t> starts{0};
    GrowingArray<int32_t> columns;
    GrowingArray<int64_t> counts;
};

// By a vocabulary, or by all words that there are.
Encoded encode_words(const Documents &documents, const TokenRules &rules, const Vocabulary *vocabulary);

// Adds the slope of each word of a document that has one (vocabulary, classes), as often as it comes, or once, to the
// scores (documents, classes), and counts these.
void score_words(const Documents &documents, const TokenRules &rules, const Vocabulary &vocabulary, const double *slope,
                 int64_t classes, bool distinct, double *scores, double *lengths);

}  // namespace suffice::text
