#pragma once

// JSON for Swift over the SIMD index of simdjson.
//
// A document is read in two steps. `mooring_json_split` indexes the whole text once, checks its
// whole structure (brackets, braces, commas, colons, and where strings begin and end, to the end
// of the text) and notes where each member of the root object and each element of an array
// member lies. `mooring_json_read` then turns one of those values into nodes, over the same
// index, and checks what lies inside: escapes, numbers, literals, UTF-8 and depth. So one bad
// item costs that item, and a torn document costs the document. `mooring_json_read_document` takes
// both steps at once, for a document whose root may be any value and is wanted whole.
//
// No function throws. A parser serves one thread at a time.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes that must be readable after the document; their content does not matter.
enum { MOORING_JSON_PADDING = 64 };

/// Members that a root object may have.
enum { MOORING_JSON_MAX_MEMBERS = 4096 };

/// Deepest nesting that `mooring_json_read` can be told to allow.
enum { MOORING_JSON_MAX_DEPTH = 256 };

typedef enum mooring_json_code {
  MOORING_JSON_OK = 0,
  // What is wrong with a document, from mooring_json_split and mooring_json_read_document:
  MOORING_JSON_EMPTY,             // nothing but white space
  MOORING_JSON_NOT_AN_OBJECT,     // the root is something else
  MOORING_JSON_TRUNCATED,         // the text ends before the root does
  MOORING_JSON_TRAILING,          // something follows the root
  MOORING_JSON_STRUCTURE,         // a bracket, comma, colon or key is not where it must be
  MOORING_JSON_CONTROL_CHARACTER, // a bare control character inside a string
  MOORING_JSON_TOO_LARGE,         // 4 GiB or more, or more nodes than allowed
  MOORING_JSON_TOO_MANY_MEMBERS,
  // What is wrong inside one value (or one key of the root):
  MOORING_JSON_STRING, // an unknown escape
  MOORING_JSON_NUMBER, // not a number as RFC 8259 writes it
  MOORING_JSON_LITERAL, // neither true, false nor null
  MOORING_JSON_UTF8,
  MOORING_JSON_DEPTH,
  // Neither:
  MOORING_JSON_NO_MEMORY
} mooring_json_code;

/// The outcome of a step; `offset` is the byte of the document where it failed.
typedef struct mooring_json_result {
  mooring_json_code code;
  uint32_t offset;
} mooring_json_result;

/// A value's place in the index: from its first token to the one after its last.
typedef struct mooring_json_span {
  uint32_t first;
  uint32_t end;
} mooring_json_span;

/// One member of the root object, in document order.
typedef struct mooring_json_member {
  const char *key; // unescaped, not terminated
  uint32_t key_length;
  uint32_t first_element; // of an array, in mooring_json_elements
  uint32_t element_count;
  mooring_json_span value;
} mooring_json_member;

typedef enum mooring_json_kind {
  MOORING_JSON_NULL,
  MOORING_JSON_FALSE,
  MOORING_JSON_TRUE,
  MOORING_JSON_INT64,
  MOORING_JSON_DOUBLE,
  MOORING_JSON_UNREPRESENTABLE, // a number that neither an int64 nor a finite double holds
  MOORING_JSON_STRING_VALUE,
  MOORING_JSON_ARRAY,
  MOORING_JSON_OBJECT
} mooring_json_kind;

/// A value. Its children follow it: the first is at this + 1, the next sibling of any node is at
/// node + node->stride. An object's children are keys (strings) and values by turns.
typedef struct mooring_json_node {
  const char *text; // a string's content, else the value as the document writes it
  union {
    int64_t int64;
    double float64;
  } number;
  uint32_t length; // bytes of text
  uint32_t count;  // elements of an array, members of an object
  uint32_t stride; // nodes of this value, itself included
  uint8_t kind;    // mooring_json_kind
} mooring_json_node;

typedef struct mooring_json_parser mooring_json_parser;

/// Makes a parser, or returns NULL when memory is short. Its buffers grow to the largest document.
mooring_json_parser *mooring_json_parser_create(void);

void mooring_json_parser_destroy(mooring_json_parser *parser);

/// Indexes the document and checks its structure. `bytes` must stay readable and unchanged, with
/// MOORING_JSON_PADDING bytes behind it, until the next split. O(length).
///
/// Invalid UTF-8 does not fail the document here: each value that has some fails when it is read.
mooring_json_result mooring_json_split(
  mooring_json_parser *parser, const void *bytes, size_t length);

/// The root's members after a split that succeeded; valid until the next split.
const mooring_json_member *mooring_json_members(const mooring_json_parser *parser, size_t *count);

/// The elements of all array members, member after member; valid until the next split.
const mooring_json_span *mooring_json_elements(const mooring_json_parser *parser);

/// The value's bytes in the document.
void mooring_json_extent(
  const mooring_json_parser *parser, mooring_json_span span, size_t *offset, size_t *length);

/// Reads one value; `*root` is valid until the next read or split. A scalar has depth 0, `[]` 1.
mooring_json_result mooring_json_read(
  mooring_json_parser *parser, mooring_json_span span, uint32_t max_depth,
  const mooring_json_node **root);

/// The number of halves of surrogate pairs (\ud83d without the second one) that became U+FFFD in
/// the values read since the last split, and the byte of the document where the first one is.
size_t mooring_json_replaced(const mooring_json_parser *parser, size_t *offset);

/// Checks the whole document and reads its root, of whatever kind; `*root` is valid until the next
/// read or split, and so must `bytes` be, as for a split. Memory beyond the index and the strings
/// is what the document's nodes need and no more. O(length).
mooring_json_result mooring_json_read_document(
  mooring_json_parser *parser, const void *bytes, size_t length, uint32_t max_depth,
  uint32_t max_nodes, const mooring_json_node **root);

/// The value of the last member of that name, or NULL. O(members).
const mooring_json_node *mooring_json_find(
  const mooring_json_node *object, const char *key, size_t key_length);

/// True for well-formed UTF-8. Needs no parser and no padding.
bool mooring_utf8_is_well_formed(const void *bytes, size_t count);

#ifdef __cplusplus
}
#endif
