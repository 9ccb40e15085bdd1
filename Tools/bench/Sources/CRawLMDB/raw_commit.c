#include "raw_commit.h"

#include <errno.h>
#include <stdlib.h>

static int apply_records(commit *commit);
static int apply_entries(commit *commit, int tree);
static int apply_entry(commit *commit, MDB_cursor *cursor, int tree, entry_change *change);
static int compare_changes(const void *left, const void *right);
static int compare_records(const void *left, const void *right);

int commit_begin(commit *commit, raw_store *store, size_t rows) {
  commit->store = store;
  commit->transaction = NULL;
  commit->first_new = store->next_object_id;
  commit->record_count = 0;
  // A row changes at most two entries of a tree: its old one and its new one.
  entry_change *entries = malloc(tree_count * 2 * rows * sizeof *entries);
  commit->records = malloc(rows * sizeof *commit->records);
  for (int tree = 0; tree < tree_count; tree++) {
    commit->entries[tree] = entries + (size_t)tree * 2 * rows;
    commit->entry_counts[tree] = 0;
  }
  int code = entries == NULL || commit->records == NULL ? ENOMEM : 0;
  if (code == 0) code = mdb_txn_begin(store->environment, NULL, 0, &commit->transaction);
  if (code == 0) code = history_begin(&commit->history, store, commit->transaction);
  return code == 0 ? 0 : commit_end(commit, code);
}

int commit_note(
    commit *commit, uint64_t object_id, const episode_row *old, const episode_row *new) {
  commit->records[commit->record_count++] = (record_change){object_id, new};
  for (int tree = 0; tree < tree_count; tree++) {
    entry before = {.length = 0}, after = {.length = 0};
    if (old != NULL) encode_entry(old, object_id, tree, &before);
    if (new != NULL) encode_entry(new, object_id, tree, &after);
    if (compare_entries(&before, &after) == 0) continue;
    entry_change *entries = commit->entries[tree];
    size_t *count = &commit->entry_counts[tree];
    if (before.length > 0) entries[(*count)++] = (entry_change){before, true};
    if (after.length > 0) entries[(*count)++] = (entry_change){after, false};
  }
  if (old == NULL) return history_insert(&commit->history, object_id);
  if (new == NULL) return history_delete(&commit->history, object_id, old);
  return history_update(&commit->history, object_id, old, new);
}

int commit_end(commit *commit, int code) {
  bool changes = code == 0 && commit->record_count > 0;
  if (changes) code = apply_records(commit);
  for (int tree = 0; tree < tree_count && code == 0; tree++) code = apply_entries(commit, tree);
  if (changes && code == 0) code = history_end(&commit->history);
  if (changes && code == 0) code = mdb_txn_commit(commit->transaction);
  else if (commit->transaction != NULL) mdb_txn_abort(commit->transaction);
  if (code != 0) commit->store->next_object_id = commit->first_new;
  free(commit->entries[0]);
  free(commit->records);
  return code;
}

static int apply_records(commit *commit) {
  qsort(commit->records, commit->record_count, sizeof *commit->records, compare_records);
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, commit->store->records, &cursor));
  for (size_t index = 0; index < commit->record_count; index++) {
    const record_change *change = &commit->records[index];
    if (change->row != NULL) {
      unsigned flags = change->object_id >= commit->first_new ? MDB_APPEND : 0;
      TRY(put_record(cursor, change->object_id, change->row, flags));
      continue;
    }
    MDB_val key = record_key(&change->object_id);
    TRY(mdb_del(commit->transaction, commit->store->records, &key, NULL));
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int apply_entries(commit *commit, int tree) {
  entry_change *entries = commit->entries[tree];
  qsort(entries, commit->entry_counts[tree], sizeof *entries, compare_changes);
  MDB_cursor *cursor;
  TRY(mdb_cursor_open(commit->transaction, commit->store->trees[tree], &cursor));
  for (size_t index = 0; index < commit->entry_counts[tree]; index++) {
    TRY(apply_entry(commit, cursor, tree, &entries[index]));
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int apply_entry(commit *commit, MDB_cursor *cursor, int tree, entry_change *change) {
  MDB_val key, data;
  split_entry(tree, &change->entry, &key, &data);
  if (change->deletes) {
    return mdb_del(commit->transaction, commit->store->trees[tree], &key, NULL);
  }
  return mdb_cursor_put(cursor, &key, &data, tree == tree_id ? MDB_NOOVERWRITE : 0);
}

static int compare_changes(const void *left, const void *right) {
  return compare_entries(
      &((const entry_change *)left)->entry, &((const entry_change *)right)->entry);
}

static int compare_records(const void *left, const void *right) {
  uint64_t a = ((const record_change *)left)->object_id;
  uint64_t b = ((const record_change *)right)->object_id;
  return a < b ? -1 : a > b;
}
