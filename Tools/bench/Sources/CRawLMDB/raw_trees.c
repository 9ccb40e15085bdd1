#include "raw_trees.h"

#include <string.h>

MDB_val record_key(const uint64_t *object_id) { return (MDB_val){8, (void *)object_id}; }

uint64_t record_id(MDB_val key) {
  uint64_t object_id;
  memcpy(&object_id, key.mv_data, sizeof object_id);
  return object_id;
}

int put_record(MDB_cursor *cursor, uint64_t object_id, const episode_row *row, unsigned flags) {
  uint8_t record[longest_record];
  MDB_val key = record_key(&object_id);
  MDB_val value = {encode_record(row, record), record};
  return value.mv_size > 0 ? mdb_cursor_put(cursor, &key, &value, flags) : MDB_BAD_VALSIZE;
}

void split_entry(int tree, entry *entry, MDB_val *key, MDB_val *data) {
  size_t key_length = tree == tree_id ? entry->length - 8u : entry->length;
  *key = (MDB_val){key_length, entry->bytes};
  *data = (MDB_val){entry->length - key_length, entry->bytes + key_length};
}

int find_object_id(MDB_cursor *cursor, episode_text id, uint64_t *object_id) {
  entry leading;
  encode_leading_text(id, &leading);
  MDB_val key = {leading.length, leading.bytes}, data;
  TRY(mdb_cursor_get(cursor, &key, &data, MDB_SET_KEY));
  *object_id = entry_object_id(data);
  return 0;
}

int next_entry(MDB_cursor *cursor, entry *leading, bool *started, MDB_val *key) {
  MDB_val data;
  *key = (MDB_val){leading->length, leading->bytes};
  MDB_cursor_op first = leading->length > 0 ? MDB_SET_RANGE : MDB_FIRST;
  TRY(mdb_cursor_get(cursor, key, &data, *started ? MDB_NEXT : first));
  *started = true;
  bool matches = key->mv_size >= leading->length
      && memcmp(key->mv_data, leading->bytes, leading->length) == 0;
  return matches ? 0 : MDB_NOTFOUND;
}

uint64_t entry_object_id(MDB_val bytes) {
  return read_big_endian((const uint8_t *)bytes.mv_data + bytes.mv_size - 8);
}
