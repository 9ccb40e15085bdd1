#ifndef MOORING_XML_H
#define MOORING_XML_H

#include <iconv.h>

// libxml2 as three events. Its context and handler table are its own, changing business, its error
// callbacks are variadic, and its headers include ICU's, which contradict those in Foundation: so
// none of them is seen from here.

typedef struct {
  // `attributes` holds five pointers each: local name, prefix, URI, first byte and end of the value.
  // Texts end with NUL, but for values. `namespaces` counts those that the element declares.
  // `start` and `text` answer whether to go on.
  int (*start)(void *context, const unsigned char *name, const unsigned char *prefix,
               const unsigned char *uri, int namespaces, int attribute_count,
               const unsigned char **attributes);
  void (*end)(void *context);
  int (*text)(void *context, const unsigned char *bytes, int length);
} mooring_xml_events;

typedef enum {
  MOORING_XML_OK,
  MOORING_XML_STOPPED,  // an event said so
  MOORING_XML_MALFORMED,
  MOORING_XML_NO_MEMORY,
  MOORING_XML_DOCUMENT_TYPE,  // there is one, of which nothing was read
  MOORING_XML_TOO_MANY_NAMES,
} mooring_xml_code;

// Sets up libxml2's tables; once, before the first read.
void mooring_xml_initialize(void);

// Reads `length` bytes of UTF-8, whatever encoding they declare. Nothing is fetched, and no tree is
// built. `recover` goes on after what is malformed; the answer says MALFORMED all the same. A document
// type ends the reading: it could declare entities and attributes that multiply. So do more than
// `names_max` different names: libxml2 keeps each, in a table that stops to grow at a few hundred.
mooring_xml_code mooring_xml_read(const char *bytes, int length, int recover, int names_max,
                                  const mooring_xml_events *events, void *context);

// The code point that HTML 4 names so, or 0.
unsigned int mooring_html_entity(const char *name);

#endif
