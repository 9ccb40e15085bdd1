// Step two: one value of a document, over the index of the whole.

#include "parser.hpp"

#include <charconv>

using namespace mooring_json;

namespace {

bool ends_scalar(uint8_t byte) noexcept {
  return is_white_space(byte) || byte == ',' || byte == ']' || byte == '}';
}

bool is_digit(uint8_t byte) noexcept { return byte >= '0' && byte <= '9'; }

/// Reads a number as RFC 8259 writes it; what ends it is looked at, too.
mooring_json_code read_number(const uint8_t *start, mooring_json_node &node) noexcept {
  const uint8_t *byte = start;
  bool is_negative = *byte == '-';
  if (is_negative) { ++byte; }
  if (!is_digit(*byte)) { return MOORING_JSON_NUMBER; }
  bool is_exact = true;
  uint64_t magnitude = 0;
  const uint8_t *digits = byte;
  for (; is_digit(*byte); ++byte) {
    is_exact = is_exact && !__builtin_mul_overflow(magnitude, uint64_t(10), &magnitude)
      && !__builtin_add_overflow(magnitude, uint64_t(*byte - '0'), &magnitude);
  }
  if (*digits == '0' && byte - digits > 1) { return MOORING_JSON_NUMBER; }

  bool is_integer = true;
  if (*byte == '.') {
    is_integer = false;
    ++byte;
    if (!is_digit(*byte)) { return MOORING_JSON_NUMBER; }
    while (is_digit(*byte)) { ++byte; }
  }
  if (*byte == 'e' || *byte == 'E') {
    is_integer = false;
    ++byte;
    if (*byte == '+' || *byte == '-') { ++byte; }
    if (!is_digit(*byte)) { return MOORING_JSON_NUMBER; }
    while (is_digit(*byte)) { ++byte; }
  }
  if (!ends_scalar(*byte)) { return MOORING_JSON_NUMBER; }
  node.text = reinterpret_cast<const char *>(start);
  node.length = static_cast<uint32_t>(byte - start);

  if (is_integer) {
    uint64_t largest = uint64_t(INT64_MAX) + (is_negative ? 1 : 0);
    if (!is_exact || magnitude > largest) {
      node.kind = MOORING_JSON_UNREPRESENTABLE;
    } else {
      node.kind = MOORING_JSON_INT64;
      node.number.int64 = static_cast<int64_t>(is_negative ? 0 - magnitude : magnitude);
    }
    return MOORING_JSON_OK;
  }
  double value = 0;
  auto outcome = std::from_chars(node.text, node.text + node.length, value);
  node.kind = outcome.ec == std::errc() ? MOORING_JSON_DOUBLE : MOORING_JSON_UNREPRESENTABLE;
  node.number.float64 = value;
  return MOORING_JSON_OK;
}

mooring_json_code read_literal(const uint8_t *start, mooring_json_node &node) noexcept {
  struct Literal {
    const char *text;
    uint32_t length;
    mooring_json_kind kind;
  };
  static const Literal literals[] = {
    {"null", 4, MOORING_JSON_NULL}, {"true", 4, MOORING_JSON_TRUE},
    {"false", 5, MOORING_JSON_FALSE}};
  for (const Literal &literal : literals) {
    if (std::memcmp(start, literal.text, literal.length) == 0
        && ends_scalar(start[literal.length])) {
      node.kind = static_cast<uint8_t>(literal.kind);
      node.text = reinterpret_cast<const char *>(start);
      node.length = literal.length;
      return MOORING_JSON_OK;
    }
  }
  return MOORING_JSON_LITERAL;
}

/// Turns the tokens of one value, whose structure the splitter has checked, into nodes.
class Reader {
public:
  Reader(mooring_json_parser &parser, uint32_t max_depth) noexcept
    : parser(parser), max_depth(max_depth) {}

  mooring_json_result read(mooring_json_span span) noexcept {
    uint32_t start = parser.offset(span.first);
    uint32_t length = trimmed_length(parser, span.first, span.end);
    if (!is_valid_utf8(parser, span.first, span.end)) { return failure(MOORING_JSON_UTF8, start); }
    // A string is never longer unescaped, so this is room for all; nodes point into it.
    if (!parser.strings.reserve(size_t(length) + MOORING_JSON_PADDING)) {
      return failure(MOORING_JSON_NO_MEMORY, start);
    }
    parser.nodes.clear();
    for (uint32_t token = span.first; token < span.end; ++token) {
      mooring_json_code code = take(token);
      if (code != MOORING_JSON_OK) { return failure(code, parser.offset(token)); }
    }
    return success;
  }

private:
  mooring_json_parser &parser;
  uint32_t max_depth;
  uint32_t depth = 0;
  uint32_t open[MOORING_JSON_MAX_DEPTH]; // nodes of the containers that are open
  size_t strings_used = 0;

  mooring_json_code take(uint32_t token) noexcept {
    const uint8_t *start = parser.bytes + parser.offset(token);
    switch (*start) {
    case ',':
      return MOORING_JSON_OK;
    case ':':
      // The key just read was counted as an element would be; its value counts instead.
      parser.nodes[open[depth - 1]].count -= 1;
      return MOORING_JSON_OK;
    case '{':
    case '[':
      return begin(start);
    case '}':
    case ']':
      end(start);
      return MOORING_JSON_OK;
    default:
      return scalar(token, start);
    }
  }

  mooring_json_code scalar(uint32_t token, const uint8_t *start) noexcept {
    mooring_json_node node = {};
    node.stride = 1;
    mooring_json_code code;
    if (*start == '"') {
      code = string(token, node);
    } else if (parser.token_count() == 1) {
      code = lone_scalar(token, node);
    } else if (*start == '-' || is_digit(*start)) {
      code = read_number(start, node);
    } else {
      code = read_literal(start, node);
    }
    return code == MOORING_JSON_OK ? add(node) : code;
  }

  /// The document is this number or literal alone: nothing but the padding ends it, and that may
  /// hold anything. So it is read from a copy, which white space ends.
  mooring_json_code lone_scalar(uint32_t token, mooring_json_node &node) noexcept {
    uint32_t length = trimmed_length(parser, token, token + 1);
    uint8_t *copy = parser.strings.data();
    std::memcpy(copy, parser.bytes + parser.offset(token), length);
    std::memset(copy + length, ' ', MOORING_JSON_PADDING);
    return *copy == '-' || is_digit(*copy) ? read_number(copy, node) : read_literal(copy, node);
  }

  mooring_json_code string(uint32_t token, mooring_json_node &node) noexcept {
    node.text = unescape(parser, token, parser.strings.data() + strings_used, &node.length);
    if (node.text == nullptr) { return MOORING_JSON_STRING; }
    strings_used += node.length;
    node.kind = MOORING_JSON_STRING_VALUE;
    return MOORING_JSON_OK;
  }

  mooring_json_code begin(const uint8_t *start) noexcept {
    if (depth == max_depth) { return MOORING_JSON_DEPTH; }
    mooring_json_node node = {};
    node.kind = *start == '{' ? MOORING_JSON_OBJECT : MOORING_JSON_ARRAY;
    node.text = reinterpret_cast<const char *>(start);
    mooring_json_code code = add(node);
    if (code == MOORING_JSON_OK) {
      open[depth++] = static_cast<uint32_t>(parser.nodes.size() - 1);
    }
    return code;
  }

  void end(const uint8_t *close) noexcept {
    uint32_t index = open[--depth];
    mooring_json_node &node = parser.nodes[index];
    node.stride = static_cast<uint32_t>(parser.nodes.size()) - index;
    node.length =
      static_cast<uint32_t>(close + 1 - reinterpret_cast<const uint8_t *>(node.text));
  }

  mooring_json_code add(const mooring_json_node &node) noexcept {
    if (depth > 0) { parser.nodes[open[depth - 1]].count += 1; }
    return parser.nodes.push(node) ? MOORING_JSON_OK : MOORING_JSON_NO_MEMORY;
  }
};

} // namespace

mooring_json_result mooring_json_read(
  mooring_json_parser *parser, mooring_json_span span, uint32_t max_depth,
  const mooring_json_node **root) {
  if (max_depth > MOORING_JSON_MAX_DEPTH) { max_depth = MOORING_JSON_MAX_DEPTH; }
  mooring_json_result result = Reader(*parser, max_depth).read(span);
  *root = result.code == MOORING_JSON_OK ? parser->nodes.data() : nullptr;
  return result;
}

const mooring_json_node *mooring_json_find(
  const mooring_json_node *object, const char *key, size_t key_length) {
  if (object->kind != MOORING_JSON_OBJECT) { return nullptr; }
  const mooring_json_node *found = nullptr;
  const mooring_json_node *name = object + 1;
  for (uint32_t index = 0; index < object->count; ++index) {
    const mooring_json_node *value = name + 1;
    if (name->length == key_length && std::memcmp(name->text, key, key_length) == 0) {
      found = value;
    }
    name = value + value->stride;
  }
  return found;
}
