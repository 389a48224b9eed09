// The structures of the Arrow C data and stream interfaces, and who owns them.
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

// Owns a structure of the interface, and gives it back.
template <typename T> class Held {
  public:
    Held() : held_{} {}
    Held(const Held &) = delete;
    ~Held() {
        if (held_.release) held_.release(&held_);
    }
    T *get() { return &held_; }
    bool is_there() const { return held_.release != nullptr; }

  private:
    T held_;
};

}  // namespace suffice
