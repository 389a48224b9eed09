// The structures of the Arrow C data and stream interfaces, and their owner.
// https://arrow.apache.org/docs/format/CStreamInterface.html
#pragma once

#include <cstdint>

namespace suffice {

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    ArrowSchema **children, *dictionary;
    void (*release)(ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    ArrowArray **children, *dictionary;
    void (*release)(ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream *, ArrowSchema *out);
    int (*get_next)(ArrowArrayStream *, ArrowArray *out);
    const char *(*get_last_error)(ArrowArrayStream *);
    void (*release)(ArrowArrayStream *);
    void *private_data;
};

// Owns a structure of the interface and releases it.
template <typename T> class Owned {
  public:
    Owned() : owned_{} {}
    Owned(const Owned &) = delete;
    ~Owned() {
        if (owned_.release) owned_.release(&owned_);
    }
    T *get() { return &owned_; }
    bool is_set() const { return owned_.release != nullptr; }

  private:
    T owned_;
};

}  // namespace suffice
