#ifndef MOORING_XML_H
#define MOORING_XML_H

#include <iconv.h>

// libxml2 as four events. Swift does not import libxml2's headers: its context and handler table
// change between versions, its error callbacks are variadic, and the headers include ICU's, which
// conflict with those in Foundation.

typedef struct {
  // `attributes` has five pointers each: local name, prefix, URI, first byte and end of the value.
  // All texts but values end with NUL. `namespaces` counts those that the element declares.
  // `start` and `text` return 0 to stop the parser.
  int (*start)(void *context, const unsigned char *name, const unsigned char *prefix,
               const unsigned char *uri, int namespaces, int attribute_count,
               const unsigned char **attributes);
  void (*end)(void *context);
  int (*text)(void *context, const unsigned char *bytes, int length);
  // An error of the text before byte `offset` of it: a prefix that is not declared, or a message of
  // libxml2 about namespaces, or NULL for any other error. May be NULL.
  void (*fault)(void *context, long offset, const char *prefix, const char *message);
} mooring_xml_events;

typedef enum {
  MOORING_XML_OK,
  MOORING_XML_STOPPED,  // an event stopped the parser
  MOORING_XML_MALFORMED,
  MOORING_XML_NO_MEMORY,
  MOORING_XML_DOCUMENT_TYPE,  // the document has a DOCTYPE, which was not read
  MOORING_XML_TOO_MANY_NAMES,
} mooring_xml_code;

// Sets up libxml2's tables. Call it once, before the first read.
void mooring_xml_initialize(void);

// Parses `length` bytes of UTF-8, whatever encoding they declare. It fetches nothing and builds no
// tree. With `recover` it continues after malformed input; the result is MALFORMED nevertheless. A
// document type ends it, since entities and default attributes can multiply. More than `names_max`
// different names end it, too: libxml2 keeps each, in a table that stops growing at a few hundred.
mooring_xml_code mooring_xml_read(const char *bytes, int length, int recover, int names_max,
                                  const mooring_xml_events *events, void *context);

// Returns the code point with this name in HTML 4, or 0.
unsigned int mooring_html_entity(const char *name);

#endif
