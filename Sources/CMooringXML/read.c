#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <string.h>

#include "mooring_xml.h"

typedef struct {
  xmlParserCtxtPtr parser;
  const mooring_xml_events *events;
  void *context;
  int recover;
  int names_max;
  int malformed;
  int stopped;
  int has_document_type;
  int too_many_names;
  int no_memory;
} run;

// Called from an event of an element alone, where libxml2 expects it.
static void stop(run *self) {
  self->stopped = 1;
  xmlStopParser(self->parser);
}

static void start(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                  int namespaces, const xmlChar **declared, int attributes, int defaulted,
                  const xmlChar **values) {
  run *self = data;
  (void)declared;
  (void)defaulted;
  if (xmlDictSize(self->parser->dict) > self->names_max) self->too_many_names = 1;
  if (self->stopped || self->too_many_names || (self->malformed && !self->recover)) {
    stop(self);
    return;
  }
  int answer =
      self->events->start(self->context, name, prefix, uri, namespaces, attributes, values);
  if (answer == 0) stop(self);
  if (answer == 2 && self->events->fault != NULL) {
    self->events->fault(self->context, xmlByteConsumed(self->parser), NULL, NULL);
  }
}

static void end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  run *self = data;
  (void)name;
  (void)prefix;
  (void)uri;
  if (!self->stopped) self->events->end(self->context);
}

static void text(void *data, const xmlChar *bytes, int length) {
  run *self = data;
  // The parser is at work on these bytes: the next element stops it.
  if (!self->stopped && !self->events->text(self->context, bytes, length)) self->stopped = 1;
}

static void document_type(void *data, const xmlChar *name, const xmlChar *public,
                          const xmlChar *system) {
  run *self = data;
  (void)name;
  (void)public;
  (void)system;
  self->has_document_type = 1;
  stop(self);
}

// Without a handler libxml2 prints to stderr. The parser remembers the last error by itself. It is
// not stopped here, since it may still point into the text that stopping lets go.
static void note_error(void *data, xmlErrorPtr error) {
  run *self = data;
  if (self->stopped) return;
  int is_fatal = error->level == XML_ERR_FATAL;
  // A text that is well-formed but for its namespaces is read like any other. A namespace that is
  // no URI is allowed.
  int is_namespace = error->code >= XML_NS_ERR_XML_NAMESPACE && error->code <= XML_NS_ERR_COLON;
  if ((is_fatal || is_namespace) && self->events->fault != NULL) {
    int is_prefix = error->code == XML_NS_ERR_UNDEFINED_NAMESPACE;
    self->events->fault(self->context, xmlByteConsumed(self->parser),
                        is_prefix ? error->str1 : NULL,
                        is_namespace && !is_prefix ? error->message : NULL);
  }
  if (is_fatal) self->malformed = 1;
  if (error->code == XML_ERR_NO_MEMORY) self->no_memory = 1;
}

void mooring_xml_initialize(void) { xmlInitParser(); }

mooring_xml_code mooring_xml_read(const char *bytes, int length, int recover, int names_max,
                                  const mooring_xml_events *events, void *context) {
  xmlParserCtxtPtr parser = xmlCreateMemoryParserCtxt(bytes, length);
  if (parser == NULL) return MOORING_XML_NO_MEMORY;
  run self = {.parser = parser,
              .events = events,
              .context = context,
              .recover = recover,
              .names_max = names_max};
  // NOENT is for the five names alone, which attributes would show as numbers without it: a
  // document type ends the reading, so there are no others to expand. RECOVER is so that the start
  // event after an error comes, which stops the parser where nothing is to be recovered.
  xmlCtxtUseOptions(
      parser, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOENT | XML_PARSE_RECOVER);
  memset(parser->sax, 0, sizeof *parser->sax);
  parser->sax->initialized = XML_SAX2_MAGIC;
  parser->sax->internalSubset = document_type;
  parser->sax->startElementNs = start;
  parser->sax->endElementNs = end;
  parser->sax->characters = text;
  parser->sax->ignorableWhitespace = text;
  parser->sax->cdataBlock = text;
  // Newer versions declare the error const.
  parser->sax->serror = (xmlStructuredErrorFunc)note_error;
  parser->userData = &self;
  xmlParseDocument(parser);

  mooring_xml_code code = MOORING_XML_OK;
  if (self.has_document_type) {
    code = MOORING_XML_DOCUMENT_TYPE;
  } else if (self.too_many_names) {
    code = MOORING_XML_TOO_MANY_NAMES;
  } else if (self.no_memory) {
    code = MOORING_XML_NO_MEMORY;
  } else if (self.malformed && !recover) {
    code = MOORING_XML_MALFORMED;
  } else if (self.stopped) {
    code = MOORING_XML_STOPPED;
  } else if (!parser->wellFormed) {
    code = MOORING_XML_MALFORMED;
  }
  xmlDocPtr document = parser->myDoc;
  parser->myDoc = NULL;
  xmlFreeParserCtxt(parser);
  if (document != NULL) xmlFreeDoc(document);
  return code;
}

unsigned int mooring_html_entity(const char *name) {
  const htmlEntityDesc *entity = htmlEntityLookup((const xmlChar *)name);
  return entity == NULL ? 0 : entity->value;
}
