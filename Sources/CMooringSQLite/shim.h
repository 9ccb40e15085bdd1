#ifndef MOORING_SQLITE_H
#define MOORING_SQLITE_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast of -1 to a pointer to a function, which Swift does not import.
static inline int mooring_bind_text(sqlite3_stmt *statement, int place, const char *bytes,
                                    int count) {
  return sqlite3_bind_text(statement, place, bytes, count, SQLITE_TRANSIENT);
}

static inline int mooring_bind_blob(sqlite3_stmt *statement, int place, const void *bytes,
                                    int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, place, 0);
  return sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}

// sqlite3_db_config takes a variable number of arguments, which Swift does not import.
static inline int mooring_configure(sqlite3 *connection, int option, int isOn) {
  return sqlite3_db_config(connection, option, isOn, (int *)0);
}

#endif
