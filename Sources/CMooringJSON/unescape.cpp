// Strings that simdjson refuses to unescape.

#include "parser.hpp"

namespace mooring_json {

namespace {

/// The value of four hexadecimal digits; above 0xffff if one of them is none.
uint32_t hexadecimal(const uint8_t *digits) noexcept {
  uint32_t value = 0;
  for (int index = 0; index < 4; ++index) {
    uint8_t digit = digits[index];
    uint8_t letter = digit | 0x20;
    if (digit >= '0' && digit <= '9') {
      value = value << 4 | uint32_t(digit - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      value = value << 4 | uint32_t(letter - 'a' + 10);
    } else {
      return 0x10000;
    }
  }
  return value;
}

uint8_t *write(uint32_t character, uint8_t *into) noexcept {
  if (character < 0x80) {
    *into++ = uint8_t(character);
    return into;
  }
  if (character < 0x800) {
    *into++ = uint8_t(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      *into++ = uint8_t(0xe0 | character >> 12);
    } else {
      *into++ = uint8_t(0xf0 | character >> 18);
      *into++ = uint8_t(0x80 | (character >> 12 & 0x3f));
    }
    *into++ = uint8_t(0x80 | (character >> 6 & 0x3f));
  }
  *into++ = uint8_t(0x80 | (character & 0x3f));
  return into;
}

/// The character of an escape with one letter, or 0.
uint8_t plain_escape(uint8_t letter) noexcept {
  switch (letter) {
  case '"':
  case '\\':
  case '/':
    return letter;
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  default:
    return 0;
  }
}

} // namespace

uint8_t *unescape_half_pairs(
  mooring_json_parser &parser, const uint8_t *content, uint8_t *into) noexcept {
  // Counted at the end: a string that is refused nevertheless has no repairs.
  uint32_t count = 0;
  uint32_t first = 0;
  // A quote ends the string, which the index has checked.
  while (*content != '"') {
    if (*content != '\\') {
      *into++ = *content++;
      continue;
    }
    if (content[1] != 'u') {
      uint8_t character = plain_escape(content[1]);
      if (character == 0) { return nullptr; }
      *into++ = character;
      content += 2;
      continue;
    }
    uint32_t character = hexadecimal(content + 2);
    if (character > 0xffff) { return nullptr; }
    const uint8_t *escape = content;
    content += 6;
    if (character >= 0xd800 && character < 0xe000) {
      uint32_t low = character < 0xdc00 && content[0] == '\\' && content[1] == 'u'
        ? hexadecimal(content + 2)
        : 0;
      if (low >= 0xdc00 && low < 0xe000) {
        character = 0x10000 + ((character - 0xd800) << 10 | (low - 0xdc00));
        content += 6;
      } else {
        character = 0xfffd;
        if (count == 0) { first = uint32_t(escape - parser.bytes); }
        count += 1;
      }
    }
    into = write(character, into);
  }
  if (parser.replaced == 0) { parser.first_replaced = first; }
  parser.replaced += count;
  return into;
}

} // namespace mooring_json

size_t mooring_json_replaced(const mooring_json_parser *parser, size_t *offset) {
  *offset = parser->first_replaced;
  return parser->replaced;
}
