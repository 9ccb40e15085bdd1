#ifndef MOORING_POSTGRESQL_H
#define MOORING_POSTGRESQL_H

#include <dlfcn.h>
#include <postgresql/libpq-fe.h>
#include <stddef.h>
// glibc's own header, which is not part of Swift's module Glibc.
#include <sys/eventfd.h>

// The functions of libpq that are called. Programs do not link the library: it is loaded when the
// first connection is made, because 25 other libraries come with it.
#define MOORING_LIBPQ_FUNCTIONS(X) \
  X(PQlibVersion) \
  X(PQisthreadsafe) \
  X(PQconninfoParse) \
  X(PQconninfoFree) \
  X(PQfreemem) \
  X(PQconnectStartParams) \
  X(PQconnectPoll) \
  X(PQconnectionNeedsPassword) \
  X(PQfinish) \
  X(PQstatus) \
  X(PQsocket) \
  X(PQerrorMessage) \
  X(PQsetErrorVerbosity) \
  X(PQsetNoticeReceiver) \
  X(PQsetnonblocking) \
  X(PQserverVersion) \
  X(PQbackendPID) \
  X(PQsslInUse) \
  X(PQtransactionStatus) \
  X(PQenterPipelineMode) \
  X(PQexitPipelineMode) \
  X(PQpipelineSync) \
  X(PQsendQueryParams) \
  X(PQsetSingleRowMode) \
  X(PQflush) \
  X(PQconsumeInput) \
  X(PQisBusy) \
  X(PQgetResult) \
  X(PQclear) \
  X(PQresultStatus) \
  X(PQresultErrorMessage) \
  X(PQresultErrorField) \
  X(PQcmdStatus) \
  X(PQcmdTuples) \
  X(PQntuples) \
  X(PQnfields) \
  X(PQftype) \
  X(PQfformat) \
  X(PQgetisnull) \
  X(PQgetlength) \
  X(PQgetvalue) \
  X(PQnotifies) \
  X(PQgetCancel) \
  X(PQfreeCancel) \
  X(PQcancel)

// Each field has the type of the declaration in libpq's header.
struct mooring_libpq {
#define MOORING_LIBPQ_FIELD(name) __typeof__(&name) _Null_unspecified name;
  MOORING_LIBPQ_FUNCTIONS(MOORING_LIBPQ_FIELD)
#undef MOORING_LIBPQ_FIELD
};

// Finds the functions in the loaded library. Returns the name of one that it lacks, or NULL.
static inline const char *_Nullable mooring_libpq_resolve(
    void *_Nonnull library, struct mooring_libpq *_Nonnull functions) {
#define MOORING_LIBPQ_RESOLVE(name) \
  *(void **)&functions->name = dlsym(library, #name); \
  if (functions->name == NULL) return #name;
  MOORING_LIBPQ_FUNCTIONS(MOORING_LIBPQ_RESOLVE)
#undef MOORING_LIBPQ_RESOLVE
  return NULL;
}

// Swift does not import macros that are characters.
enum {
  mooring_libpq_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
  mooring_libpq_sqlstate = PG_DIAG_SQLSTATE,
  mooring_libpq_message = PG_DIAG_MESSAGE_PRIMARY,
  mooring_libpq_detail = PG_DIAG_MESSAGE_DETAIL,
  mooring_libpq_hint = PG_DIAG_MESSAGE_HINT,
  mooring_libpq_constraint = PG_DIAG_CONSTRAINT_NAME,
};

#endif
