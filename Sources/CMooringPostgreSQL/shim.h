#ifndef MOORING_POSTGRESQL_H
#define MOORING_POSTGRESQL_H

#include <postgresql/libpq-fe.h>
// glibc's own header, which is not part of Swift's module Glibc.
#include <sys/eventfd.h>

#include "../CMooringLoading/loading.h"

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

MOORING_LOADED_LIBRARY(mooring_libpq, MOORING_LIBPQ_FUNCTIONS)

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
