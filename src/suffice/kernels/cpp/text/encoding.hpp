// Documents as rows of a sparse matrix, and as sums of what their words say.
#pragma once

#include "learned.hpp"

namespace suffice::text {

// Rows of a sparse matrix: columns rise in each.
struct Encoded {
    Packed words;  // of the columns, if they were learned
    std::vector<int64_t> starts;
    std::unique_ptr<int32_t[]> columns;
    std::unique_ptr<int64_t[]> counts;
};

// By a vocabulary, or by all words that there are.
Encoded encode_words(const Documents &documents, const Reading &reading, const Vocabulary *vocabulary);

// Adds the slope of each word of a document that has one (vocabulary, classes), as often as it comes, or once, to the scores
// (documents, classes), and counts these.
void score_words(const Documents &documents, const Reading &reading, const Vocabulary &vocabulary, const double *slope,
                 int64_t classes, bool distinct, double *scores, double *lengths);

}  // namespace suffice::text
