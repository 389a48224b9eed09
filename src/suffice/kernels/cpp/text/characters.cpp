#include "characters.hpp"

#include <Python.h>

#include <mutex>

namespace suffice::text {
namespace {

constexpr size_t PAGES = (LAST_CHARACTER + 1) / 256;

std::array<std::atomic<const Page *>, PAGES> pages{};
std::mutex making;

// Python's tables are constant, so any thread may read them.
std::unique_ptr<Page> make_page(uint32_t first) {
    auto page = std::make_unique<Page>();
    const auto is_word = [](Py_UCS4 c) { return Py_UNICODE_ISALNUM(c) || c == '_'; };
    for (uint32_t i = 0; i < 256; ++i) {
        const Py_UCS4 c = first + i, lower = Py_UNICODE_TOLOWER(c);
        page->lower[i] = lower;
        page->word[i] = is_word(c);
        page->lower_word[i] = is_word(lower);
        page->space[i] = Py_UNICODE_ISSPACE(c);
    }
    return page;
}

std::vector<uint8_t> &classes() {
    static std::vector<uint8_t> held;
    return held;
}
std::atomic<bool> known{false};

}  // namespace

const Page &page_of(uint32_t character) {
    const size_t at = character / 256;
    const Page *page = pages[at].load(std::memory_order_acquire);
    if (page) return *page;
    const std::lock_guard<std::mutex> lock(making);
    page = pages[at].load(std::memory_order_relaxed);
    if (!page) {
        page = make_page(static_cast<uint32_t>(at * 256)).release();  // lives as long as the process
        pages[at].store(page, std::memory_order_release);
    }
    return *page;
}

void set_case_classes(std::vector<uint8_t> found) {
    const std::lock_guard<std::mutex> lock(making);
    if (known) return;
    classes() = std::move(found);
    known.store(true, std::memory_order_release);
}

const std::vector<uint8_t> &case_classes() {
    if (!known.load(std::memory_order_acquire)) throw SigmaNeeded{};
    return classes();
}

}  // namespace suffice::text
