// Words of documents, counted by class.
#pragma once

#include "learned.hpp"

namespace suffice::text {

// Numbers that are all written before they are read.
class Numbers {
  public:
    explicit Numbers(size_t size) : data_(new double[size]) {}
    double &operator[](int64_t i) { return data_[static_cast<size_t>(i)]; }
    double *release() { return data_.release(); }

  private:
    std::unique_ptr<double[]> data_;
};

// How often words are there in each class, and in how many documents (classes, words).
struct Counts {
    Packed words;
    Numbers count, documents;
};

struct SlotCounts {
    Numbers count, documents;
};

// There are fewer than 2^32 words in all.
Counts count_words(const Documents &documents, const Reading &reading, const int64_t *codes, int64_t classes);
SlotCounts count_slots(const Documents &documents, const Reading &reading, const int64_t *codes, int64_t classes,
                       int64_t slots);

}  // namespace suffice::text
