#include "raw_trees.h"

#include <string.h>

static uint8_t whole_tree = 0;  // the one partition of an index without a leading value

bool is_partitioned(const raw_store *store, int tree) {
  return store->options.layout == raw_layout_partitioned && tree != tree_id;
}

static bool has_value(const raw_store *store, int tree) {
  return is_partitioned(store, tree)
      || (tree == tree_id && store->options.layout != raw_layout_plain);
}

void split_entry(const raw_store *store, int tree, entry *entry, MDB_val *key, MDB_val *data) {
  size_t key_length = has_value(store, tree) ? entry->leading : entry->length;
  *key = (MDB_val){key_length, entry->bytes};
  *data = (MDB_val){entry->length - key_length, entry->bytes + key_length};
  if (key_length == 0) *key = (MDB_val){1, &whole_tree};
}

int put_entry(const raw_store *store, MDB_cursor *cursor, int tree, entry *entry, unsigned flags) {
  MDB_val key, data;
  split_entry(store, tree, entry, &key, &data);
  if (flags & MDB_APPEND && is_partitioned(store, tree)) flags = MDB_APPENDDUP;
  return mdb_cursor_put(cursor, &key, &data, flags);
}

int delete_entry(const raw_store *store, MDB_txn *transaction, int tree, entry *entry) {
  MDB_val key, data;
  split_entry(store, tree, entry, &key, &data);
  return mdb_del(transaction, store->trees[tree], &key, is_partitioned(store, tree) ? &data : NULL);
}

MDB_val record_key(const raw_store *store, uint64_t object_id, uint8_t bytes[8]) {
  if (store->options.integer_key) memcpy(bytes, &object_id, 8);
  else write_big_endian(bytes, object_id);
  return (MDB_val){8, bytes};
}

int put_record(
    const raw_store *store, MDB_cursor *cursor, uint64_t object_id, const raw_row *row,
    unsigned flags) {
  uint8_t bytes[8], record[longest_record];
  MDB_val key = record_key(store, object_id, bytes);
  MDB_val value = {encode_record(row, record), record};
  return value.mv_size > 0 ? mdb_cursor_put(cursor, &key, &value, flags) : MDB_BAD_VALSIZE;
}

int find_object_id(const raw_store *store, MDB_cursor *cursor, raw_text id, uint64_t *object_id) {
  entry leading;
  encode_leading_text(id, &leading);
  bool started = false;
  return next_object_id(store, cursor, tree_id, &leading, &started, object_id);
}

int next_object_id(
    const raw_store *store, MDB_cursor *cursor, int tree, entry *leading, bool *started,
    uint64_t *object_id) {
  MDB_val key = {leading->leading, leading->bytes}, data;
  MDB_val *last = &key;
  if (is_partitioned(store, tree)) {
    if (leading->leading == 0) key = (MDB_val){1, &whole_tree};
    TRY(mdb_cursor_get(cursor, &key, &data, *started ? MDB_NEXT_DUP : MDB_SET_KEY));
    last = &data;
  } else if (has_value(store, tree)) {
    TRY(mdb_cursor_get(cursor, &key, &data, MDB_SET_KEY));
    last = &data;
  } else if (leading->leading == 0) {
    TRY(mdb_cursor_get(cursor, &key, &data, *started ? MDB_NEXT : MDB_FIRST));
  } else {
    TRY(mdb_cursor_get(cursor, &key, &data, *started ? MDB_NEXT : MDB_SET_RANGE));
    bool matches = key.mv_size >= leading->leading
        && memcmp(key.mv_data, leading->bytes, leading->leading) == 0;
    if (!matches) return MDB_NOTFOUND;
  }
  *started = true;
  *object_id = read_big_endian((const uint8_t *)last->mv_data + last->mv_size - 8);
  return 0;
}
