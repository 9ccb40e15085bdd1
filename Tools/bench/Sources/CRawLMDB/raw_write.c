#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "raw_trees.h"

typedef struct {
  entry entry;
  bool deletes;
} change;

typedef struct {
  uint64_t object_id;
  const raw_row *row;  // NULL deletes
} record_change;

/// One transaction. Changes are gathered by tree first and then applied in key order, so that each
/// leaf page is visited once.
typedef struct {
  raw_store *store;
  MDB_txn *transaction;
  const raw_row *rows;
  size_t count;
  uint64_t first_new;  // object ids from here on are new and sort after all others
  record_change *records;
  size_t record_count;
  change *changes[tree_count];
  size_t change_counts[tree_count];
} commit;

static int run_commit(
    raw_store *store, const raw_row *rows, size_t count, int (*gather)(commit *));
static int gather_inserts(commit *commit);
static int gather_upserts(commit *commit);
static int gather_oldest(commit *commit);
static int read_old(commit *commit, uint64_t object_id, raw_row *row);
static void note_change(
    commit *commit, uint64_t object_id, const raw_row *old, const raw_row *new);
static int apply_records(commit *commit);
static int apply_entries(commit *commit, int tree);
static int check_free(commit *commit, MDB_cursor *cursor, int tree, entry *entry);
static int compare_changes(const void *left, const void *right);
static int compare_records(const void *left, const void *right);

int raw_store_insert(raw_store *store, const raw_row *rows, size_t count) {
  return run_commit(store, rows, count, gather_inserts);
}

int raw_store_upsert(raw_store *store, const raw_row *rows, size_t count) {
  return run_commit(store, rows, count, gather_upserts);
}

int raw_store_delete_oldest(raw_store *store, size_t count, size_t chunk) {
  for (size_t deleted = 0; deleted < count; deleted += chunk) {
    size_t length = count - deleted < chunk ? count - deleted : chunk;
    TRY(run_commit(store, NULL, length, gather_oldest));
  }
  return 0;
}

static int run_commit(
    raw_store *store, const raw_row *rows, size_t count, int (*gather)(commit *)) {
  commit commit = {
    .store = store, .rows = rows, .count = count, .first_new = store->next_object_id,
  };
  // A row changes at most two entries of a tree: its old one and its new one.
  change *changes = malloc(tree_count * 2 * count * sizeof *changes);
  commit.records = malloc(count * sizeof *commit.records);
  int code = changes == NULL || commit.records == NULL ? ENOMEM : 0;
  if (code == 0) code = mdb_txn_begin(store->environment, NULL, 0, &commit.transaction);
  if (code == 0) {
    for (int tree = 0; tree < tree_count; tree++) {
      commit.changes[tree] = changes + (size_t)tree * 2 * count;
    }
    code = gather(&commit);
    if (code == 0) code = apply_records(&commit);
    for (int tree = 0; tree < tree_count && code == 0; tree++) {
      code = apply_entries(&commit, tree);
    }
    if (code == 0) code = mdb_txn_commit(commit.transaction);
    else mdb_txn_abort(commit.transaction);
  }
  if (code != 0) store->next_object_id = commit.first_new;
  free(changes);
  free(commit.records);
  return code;
}

static int gather_inserts(commit *commit) {
  for (size_t index = 0; index < commit->count; index++) {
    note_change(commit, commit->store->next_object_id++, NULL, &commit->rows[index]);
  }
  return 0;
}

static int gather_upserts(commit *commit) {
  raw_store *store = commit->store;
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, store->trees[tree_id], &cursor));
  for (size_t index = 0; index < commit->count; index++) {
    const raw_row *new = &commit->rows[index];
    uint64_t object_id;
    int code = find_object_id(store, cursor, new->id, &object_id);
    if (code == MDB_NOTFOUND) {
      note_change(commit, store->next_object_id++, NULL, new);
      continue;
    }
    TRY(code);
    raw_row old;
    TRY(read_old(commit, object_id, &old));
    note_change(commit, object_id, &old, new);
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int gather_oldest(commit *commit) {
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, commit->store->trees[tree_updated], &cursor));
  for (size_t found = 0; found < commit->count; found++) {
    MDB_val key, data;
    int code = mdb_cursor_get(cursor, &key, &data, found == 0 ? MDB_LAST : MDB_PREV);
    if (code == MDB_NOTFOUND) break;
    TRY(code);
    MDB_val last = is_partitioned(commit->store, tree_updated) ? data : key;
    uint64_t object_id = read_big_endian((const uint8_t *)last.mv_data + last.mv_size - 8);
    raw_row old;
    TRY(read_old(commit, object_id, &old));
    note_change(commit, object_id, &old, NULL);
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int read_old(commit *commit, uint64_t object_id, raw_row *row) {
  uint8_t bytes[8];
  MDB_val key = record_key(commit->store, object_id, bytes), record;
  TRY(mdb_get(commit->transaction, commit->store->records, &key, &record));
  return read_record(record, row) ? 0 : MDB_CORRUPTED;
}

/// Notes the record and, of the index entries, those that differ. `old` may point into the map: it
/// is read here, before anything is written.
static void note_change(
    commit *commit, uint64_t object_id, const raw_row *old, const raw_row *new) {
  commit->records[commit->record_count++] = (record_change){object_id, new};
  for (int tree = 0; tree < tree_count; tree++) {
    entry before = {.length = 0}, after = {.length = 0};
    if (old != NULL) encode_entry(old, object_id, tree, &before);
    if (new != NULL) encode_entry(new, object_id, tree, &after);
    if (compare_entries(&before, &after) == 0) continue;
    change *changes = commit->changes[tree];
    size_t *count = &commit->change_counts[tree];
    if (before.length > 0) changes[(*count)++] = (change){before, true};
    if (after.length > 0) changes[(*count)++] = (change){after, false};
  }
}

static int apply_records(commit *commit) {
  qsort(commit->records, commit->record_count, sizeof *commit->records, compare_records);
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, commit->store->records, &cursor));
  for (size_t index = 0; index < commit->record_count; index++) {
    const record_change *change = &commit->records[index];
    if (change->row != NULL) {
      unsigned flags = change->object_id >= commit->first_new ? MDB_APPEND : 0;
      TRY(put_record(commit->store, cursor, change->object_id, change->row, flags));
      continue;
    }
    uint8_t bytes[8];
    MDB_val key = record_key(commit->store, change->object_id, bytes);
    TRY(mdb_del(commit->transaction, commit->store->records, &key, NULL));
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int apply_entries(commit *commit, int tree) {
  raw_store *store = commit->store;
  change *changes = commit->changes[tree];
  qsort(changes, commit->change_counts[tree], sizeof *changes, compare_changes);
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, store->trees[tree], &cursor));
  for (size_t index = 0; index < commit->change_counts[tree]; index++) {
    entry *entry = &changes[index].entry;
    if (changes[index].deletes) {
      TRY(delete_entry(store, commit->transaction, tree, entry));
      continue;
    }
    TRY(check_free(commit, cursor, tree, entry));
    TRY(put_entry(store, cursor, tree, entry, tree == tree_id ? MDB_NOOVERWRITE : 0));
  }
  mdb_cursor_close(cursor);
  return 0;
}

/// Where the object id is part of a unique key, LMDB cannot tell that the value is taken.
static int check_free(commit *commit, MDB_cursor *cursor, int tree, entry *entry) {
  if (tree != tree_id || commit->store->options.layout != raw_layout_plain) return 0;
  bool started = false;
  uint64_t taken;
  int code = next_object_id(commit->store, cursor, tree, entry, &started, &taken);
  return code == 0 ? MDB_KEYEXIST : code == MDB_NOTFOUND ? 0 : code;
}

static int compare_changes(const void *left, const void *right) {
  return compare_entries(&((const change *)left)->entry, &((const change *)right)->entry);
}

static int compare_records(const void *left, const void *right) {
  uint64_t a = ((const record_change *)left)->object_id;
  uint64_t b = ((const record_change *)right)->object_id;
  return a < b ? -1 : a > b;
}
