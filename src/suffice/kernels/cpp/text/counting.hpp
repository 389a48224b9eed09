// Word counts by class.
#pragma once

#include "merged_vocabulary.hpp"

namespace suffice::text {

// An uninitialised array of doubles, written before it is read.
class RawDoubles {
  public:
    explicit RawDoubles(size_t size) : data_(new double[size]) {}
    double &operator[](int64_t i) { return data_[static_cast<size_t>(i)]; }
    double *release() { return data_.release(); }

  private:
    std::unique_ptr<double[]> data_;
};

// Occurrences of each word in each class, and the number of documents that contain it (classes, words).
struct Counts {
    Packed words;
    RawDoubles count, documents;
};

struct SlotCounts {
    RawDoubles count, documents;
};

// Requires fewer than 2^32 words in all.
Counts count_words(const Documents &documents, const TokenRules &rules, const int64_t *codes, int64_t classes);
SlotCounts count_slots(const Documents &documents, const TokenRules &rules, const int64_t *codes, int64_t classes,
                       int64_t slots);

}  // namespace suffice::text
