// Step one: the whole document, from its index to its members and elements; or, where its root is
// wanted whole, to the number of its nodes.

#include "parser.hpp"

using namespace mooring_json;

namespace {

mooring_json_result index_tokens(
  mooring_json_parser &parser, const uint8_t *bytes, size_t length) noexcept {
  if (length >= simdjson::SIMDJSON_MAXSIZE_BYTES) { return failure(MOORING_JSON_TOO_LARGE, 0); }
  parser.bytes = bytes;
  parser.length = static_cast<uint32_t>(length);
  if (parser.kernel == nullptr) {
    auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
      length, 1, parser.kernel);
    if (error) { return failure(MOORING_JSON_NO_MEMORY, 0); }
  } else if (parser.kernel->capacity() < length) {
    if (parser.kernel->set_capacity(length)) { return failure(MOORING_JSON_NO_MEMORY, 0); }
  }

  parser.kernel->n_structural_indexes = 0;
  auto error = parser.kernel->stage1(bytes, length, simdjson::stage1_mode::regular);
  parser.is_utf8 = true;
  switch (error) {
  case simdjson::SUCCESS:
    return success;
  case simdjson::UTF8_ERROR:
    // The index is complete all the same: structure is ASCII, and no byte of it can be part of
    // an invalid sequence. Which value is at fault is found when it is read.
    parser.is_utf8 = false;
    return success;
  case simdjson::EMPTY:
    return failure(MOORING_JSON_EMPTY, 0);
  case simdjson::UNCLOSED_STRING:
    return failure(MOORING_JSON_TRUNCATED, parser.length);
  case simdjson::UNESCAPED_CHARS:
    return failure(MOORING_JSON_CONTROL_CHARACTER, 0);
  case simdjson::CAPACITY:
    return failure(MOORING_JSON_TOO_LARGE, 0);
  case simdjson::MEMALLOC:
    return failure(MOORING_JSON_NO_MEMORY, 0);
  default:
    return failure(MOORING_JSON_STRUCTURE, 0);
  }
}

mooring_json_result begin_member(mooring_json_parser &parser, uint32_t token) noexcept {
  if (parser.members.size() == MOORING_JSON_MAX_MEMBERS) {
    return failure(MOORING_JSON_TOO_MANY_MEMBERS, parser.offset(token));
  }
  mooring_json_member member = {};
  member.first_element = static_cast<uint32_t>(parser.elements.size());
  if (!parser.members.push(member) || !parser.key_tokens.push(token)) {
    return failure(MOORING_JSON_NO_MEMORY, parser.offset(token));
  }
  return success;
}

/// What the grammar of RFC 8259 lets the next token be.
enum class Expected { value, value_or_end, key, key_or_end, colon, comma_or_end };

/// Walks all tokens once, checking each against the grammar. With `notes_parts` it notes members
/// and elements, for which the root must be an object.
template <bool notes_parts> class Splitter {
public:
  explicit Splitter(mooring_json_parser &parser) noexcept : parser(parser) {}

  mooring_json_result split() noexcept {
    uint32_t count = parser.token_count();
    if (count == 0) { return failure(MOORING_JSON_EMPTY, 0); }
    if (notes_parts && parser.character(0) != '{') {
      return failure(MOORING_JSON_NOT_AN_OBJECT, parser.offset(0));
    }
    for (uint32_t token = 0; token < count; ++token) {
      token = skip_plain_members(token, count);
      if (is_complete) { return failure(MOORING_JSON_TRAILING, parser.offset(token)); }
      mooring_json_result result = take(token);
      if (result.code != MOORING_JSON_OK) { return result; }
    }
    return is_complete ? success : failure(MOORING_JSON_TRUNCATED, parser.length);
  }

  /// Values and keys seen: the nodes that reading all of it will make.
  uint32_t node_count() const noexcept { return nodes; }

private:
  mooring_json_parser &parser;
  Expected expected = Expected::value;
  uint32_t nodes = 0;
  bool is_complete = false;

  /// Skips members with strings, numbers and literals as values, where no parts are noted and
  /// another member follows: most tokens of a feed. Returns the token that follows.
  uint32_t skip_plain_members(uint32_t token, uint32_t count) noexcept {
    if (expected != Expected::key && expected != Expected::key_or_end) { return token; }
    if (notes_parts && parser.containers.size() < 3) { return token; }
    while (count - token > 4 && parser.character(token) == '"'
           && parser.character(token + 1) == ':' && is_scalar(parser.character(token + 2))
           && parser.character(token + 3) == ',') {
      token += 4;
      nodes += 2;
      expected = Expected::key;
    }
    return token;
  }

  static bool is_scalar(uint8_t character) noexcept {
    // Square brackets differ from braces in this bit.
    uint8_t bracket = character | 0x20;
    return bracket != '{' && bracket != '}' && character != ',' && character != ':';
  }

  mooring_json_result take(uint32_t token) noexcept {
    uint8_t character = parser.character(token);
    switch (expected) {
    case Expected::key_or_end:
      if (character == '}') { return close(token, character); }
      return key(token, character);
    case Expected::key:
      return key(token, character);
    case Expected::colon:
      if (character != ':') { return misplaced(token); }
      expected = Expected::value;
      return success;
    case Expected::value_or_end:
      if (character == ']') { return close(token, character); }
      return value(token, character);
    case Expected::value:
      return value(token, character);
    case Expected::comma_or_end:
      if (character != ',') { return close(token, character); }
      expected = parser.containers.last() == '{' ? Expected::key : Expected::value;
      return success;
    }
    return misplaced(token);
  }

  mooring_json_result key(uint32_t token, uint8_t character) noexcept {
    if (character != '"') { return misplaced(token); }
    expected = Expected::colon;
    nodes += 1;
    return notes_parts && parser.containers.size() == 1 ? begin_member(parser, token) : success;
  }

  mooring_json_result value(uint32_t token, uint8_t character) noexcept {
    nodes += 1;
    if (notes_parts && parser.containers.size() == 1) {
      parser.members.last().value.first = token;
    } else if (is_in_array_member() && !parser.elements.push({token, token})) {
      return failure(MOORING_JSON_NO_MEMORY, parser.offset(token));
    }
    switch (character) {
    case '{':
    case '[':
      if (!parser.containers.push(character)) {
        return failure(MOORING_JSON_NO_MEMORY, parser.offset(token));
      }
      expected = character == '{' ? Expected::key_or_end : Expected::value_or_end;
      return success;
    case '}':
    case ']':
    case ',':
    case ':':
      return misplaced(token);
    default:
      end_value(token);
      return success;
    }
  }

  mooring_json_result close(uint32_t token, uint8_t character) noexcept {
    uint8_t opening = character == '}' ? '{' : character == ']' ? '[' : 0;
    if (parser.containers.last() != opening) { return misplaced(token); }
    parser.containers.pop();
    end_value(token);
    return success;
  }

  /// A value ended with this token; the container that holds it goes on.
  void end_value(uint32_t token) noexcept {
    expected = Expected::comma_or_end;
    if (parser.containers.size() == 0) {
      is_complete = true;
    } else if (notes_parts && parser.containers.size() == 1) {
      mooring_json_member &member = parser.members.last();
      member.value.end = token + 1;
      member.element_count =
        static_cast<uint32_t>(parser.elements.size()) - member.first_element;
    } else if (is_in_array_member()) {
      parser.elements.last().end = token + 1;
    }
  }

  bool is_in_array_member() noexcept {
    return notes_parts && parser.containers.size() == 2 && parser.containers[1] == '[';
  }

  mooring_json_result misplaced(uint32_t token) noexcept {
    return failure(MOORING_JSON_STRUCTURE, parser.offset(token));
  }
};

/// Unescapes the keys of the root once all are known, so that none moves afterwards.
mooring_json_result unescape_keys(mooring_json_parser &parser) noexcept {
  size_t room = MOORING_JSON_PADDING;
  for (size_t index = 0; index < parser.members.size(); ++index) {
    uint32_t token = parser.key_tokens[index];
    room += trimmed_length(parser, token, token + 1);
  }
  if (!parser.keys.reserve(room)) { return failure(MOORING_JSON_NO_MEMORY, 0); }

  size_t used = 0;
  for (size_t index = 0; index < parser.members.size(); ++index) {
    mooring_json_member &member = parser.members[index];
    uint32_t token = parser.key_tokens[index];
    if (!is_valid_utf8(parser, token, token + 1)) {
      return failure(MOORING_JSON_UTF8, parser.offset(token));
    }
    member.key = unescape(parser, token, parser.keys.data() + used, &member.key_length);
    if (member.key == nullptr) { return failure(MOORING_JSON_STRING, parser.offset(token)); }
    used += member.key_length;
  }
  return success;
}

mooring_json_result begin_document(
  mooring_json_parser &parser, const void *bytes, size_t length) noexcept {
  parser.members.clear();
  parser.key_tokens.clear();
  parser.elements.clear();
  parser.containers.clear();
  parser.nodes.clear();
  parser.replaced = 0;
  return index_tokens(parser, static_cast<const uint8_t *>(bytes), length);
}

} // namespace

mooring_json_parser *mooring_json_parser_create(void) {
  return new (std::nothrow) mooring_json_parser();
}

void mooring_json_parser_destroy(mooring_json_parser *parser) { delete parser; }

mooring_json_result mooring_json_split(
  mooring_json_parser *parser, const void *bytes, size_t length) {
  mooring_json_result result = begin_document(*parser, bytes, length);
  if (result.code != MOORING_JSON_OK) { return result; }
  result = Splitter<true>(*parser).split();
  return result.code == MOORING_JSON_OK ? unescape_keys(*parser) : result;
}

mooring_json_result mooring_json_read_document(
  mooring_json_parser *parser, const void *bytes, size_t length, uint32_t max_depth,
  uint32_t max_nodes, const mooring_json_node **root) {
  *root = nullptr;
  mooring_json_result result = begin_document(*parser, bytes, length);
  if (result.code != MOORING_JSON_OK) { return result; }
  Splitter<false> splitter(*parser);
  result = splitter.split();
  if (result.code != MOORING_JSON_OK) { return result; }
  if (splitter.node_count() > max_nodes) { return failure(MOORING_JSON_TOO_LARGE, 0); }
  if (!parser->nodes.reserve_exactly(splitter.node_count())) {
    return failure(MOORING_JSON_NO_MEMORY, 0);
  }
  return mooring_json_read(parser, {0, parser->token_count()}, max_depth, root);
}

const mooring_json_member *mooring_json_members(const mooring_json_parser *parser, size_t *count) {
  *count = parser->members.size();
  return parser->members.data();
}

const mooring_json_span *mooring_json_elements(const mooring_json_parser *parser) {
  return parser->elements.data();
}

void mooring_json_extent(
  const mooring_json_parser *parser, mooring_json_span span, size_t *offset, size_t *length) {
  *offset = parser->offset(span.first);
  *length = trimmed_length(*parser, span.first, span.end);
}
