#pragma once

// What both steps share. The two stages of simdjson are used apart: its first (the index of
// structural characters, several GB/s) and its unescaping of strings are called as they are. The
// second stage is ours, because it must tell a bad value from a bad document, keep a number's own
// text, and read single items over one index. All calls go through the kernel that simdjson picks
// at run time.

// Errors come back as codes; simdjson is told not to compile anything that throws.
#define SIMDJSON_EXCEPTIONS 0

#include "mooring_json.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>
#include <type_traits>

namespace mooring_json {

using Kernel = simdjson::internal::dom_parser_implementation;

static_assert(simdjson::SIMDJSON_PADDING <= MOORING_JSON_PADDING, "padding promised to Swift");

/// An array that grows without exceptions. Only for types that may be moved by copying bytes.
template <typename Element> class Growable {
  static_assert(std::is_trivially_copyable<Element>::value, "moved by realloc");

public:
  Growable() = default;
  Growable(const Growable &) = delete;
  Growable &operator=(const Growable &) = delete;
  ~Growable() { std::free(storage); }

  bool reserve(size_t wanted) noexcept {
    return reserve_exactly(
      wanted > capacity && capacity * 2 > wanted ? capacity * 2 : wanted);
  }

  bool reserve_exactly(size_t larger) noexcept {
    if (larger <= capacity) { return true; }
    if (larger > SIZE_MAX / sizeof(Element)) { return false; }
    void *moved = std::realloc(storage, larger * sizeof(Element));
    if (moved == nullptr) { return false; }
    storage = static_cast<Element *>(moved);
    capacity = larger;
    return true;
  }

  bool push(const Element &element) noexcept {
    if (count == capacity && !reserve(count < 64 ? 64 : count + 1)) { return false; }
    storage[count++] = element;
    return true;
  }

  void pop() noexcept { count -= 1; }
  void clear() noexcept { count = 0; }
  Element &last() noexcept { return storage[count - 1]; }
  Element &operator[](size_t index) noexcept { return storage[index]; }
  Element *data() const noexcept { return storage; }
  size_t size() const noexcept { return count; }

private:
  Element *storage = nullptr;
  size_t count = 0;
  size_t capacity = 0;
};

} // namespace mooring_json

struct mooring_json_parser {
  std::unique_ptr<mooring_json::Kernel> kernel;
  const uint8_t *bytes = nullptr;
  uint32_t length = 0;
  bool is_utf8 = true;
  uint32_t replaced = 0;       // half surrogate pairs that became U+FFFD
  uint32_t first_replaced = 0; // where the first one is

  mooring_json::Growable<mooring_json_member> members;
  mooring_json::Growable<uint32_t> key_tokens; // where the key of each member is
  mooring_json::Growable<mooring_json_span> elements;
  mooring_json::Growable<uint8_t> containers; // '{' and '[' that are open
  mooring_json::Growable<uint8_t> keys;       // unescaped keys of the root
  mooring_json::Growable<uint8_t> strings;    // unescaped strings of the value read last
  mooring_json::Growable<mooring_json_node> nodes;

  uint32_t token_count() const noexcept { return kernel->n_structural_indexes; }
  uint32_t offset(uint32_t token) const noexcept { return kernel->structural_indexes[token]; }
  uint8_t character(uint32_t token) const noexcept { return bytes[offset(token)]; }
};

namespace mooring_json {

inline mooring_json_result failure(mooring_json_code code, uint32_t offset) noexcept {
  return {code, offset};
}

constexpr mooring_json_result success = {MOORING_JSON_OK, 0};

inline bool is_white_space(uint8_t byte) noexcept {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/// Bytes from the token's first to the last before `next` that is not white space.
inline uint32_t trimmed_length(
  const mooring_json_parser &parser, uint32_t token, uint32_t next) noexcept {
  uint32_t start = parser.offset(token);
  uint32_t end = next < parser.token_count() ? parser.offset(next) : parser.length;
  while (end > start + 1 && is_white_space(parser.bytes[end - 1])) { end -= 1; }
  return end - start;
}

inline bool is_valid_utf8(
  const mooring_json_parser &parser, uint32_t token, uint32_t end) noexcept {
  if (parser.is_utf8) { return true; }
  const char *start = reinterpret_cast<const char *>(parser.bytes + parser.offset(token));
  return simdjson::validate_utf8(start, trimmed_length(parser, token, end));
}

/// Unescapes a string in which half of a surrogate pair becomes U+FFFD, and counts those. Returns
/// the end of what was written, or NULL for any other wrong escape. The result is never longer than
/// the string.
uint8_t *unescape_half_pairs(
  mooring_json_parser &parser, const uint8_t *content, uint8_t *into) noexcept;

/// Unescapes the string whose quote is at `token`, or returns NULL if it cannot be. simdjson
/// writes up to MOORING_JSON_PADDING bytes more than the string has: `into` has room for them.
/// simdjson refuses half a surrogate pair, and this version has no option to replace it.
inline const char *unescape(
  mooring_json_parser &parser, uint32_t token, uint8_t *into, uint32_t *length) noexcept {
  const uint8_t *content = parser.bytes + parser.offset(token) + 1;
  const uint8_t *end = parser.kernel->parse_string(content, into);
  if (end == nullptr) { end = unescape_half_pairs(parser, content, into); }
  if (end == nullptr) { return nullptr; }
  *length = static_cast<uint32_t>(end - into);
  return reinterpret_cast<const char *>(into);
}

} // namespace mooring_json
