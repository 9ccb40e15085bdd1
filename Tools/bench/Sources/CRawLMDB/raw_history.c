#include "raw_history.h"

#include <math.h>
#include <string.h>

enum { part_bytes = 1750, entity_word = 4, kind_insert = 0, kind_update = 1, kind_delete = 2 };

enum {
  field_id = 1, field_title, field_summary, field_type, field_duration, field_url, field_path_id,
  field_position, field_published_at, field_updated_at, field_favorite_at, field_watch_later_at,
  field_watched_at, field_progress,
};

static int append_change(history *history, int kind, uint64_t object_id);
static int append_part(history *history);
static void append_number(history *history, uint64_t number);
static void append_bytes(history *history, const void *bytes, size_t length);
static void append_value(history *history, int field, const void *bytes, size_t length);
static size_t changed_fields(const episode_row *old, const episode_row *new, uint8_t fields[14]);
static bool differ(double left, double right);
static bool differ_texts(episode_text left, episode_text right);

int history_begin(history *history, const raw_store *store, MDB_txn *transaction) {
  MDB_cursor *cursor;
  MDB_val key, data;
  TRY(mdb_cursor_open(transaction, store->history, &cursor));
  int code = mdb_cursor_get(cursor, &key, &data, MDB_LAST);
  uint64_t last = code == 0 ? read_big_endian(key.mv_data) : 0;
  mdb_cursor_close(cursor);
  if (code != 0 && code != MDB_NOTFOUND) return code;
  history->transaction = transaction;
  history->tree = store->history;
  history->number = last + 1;
  history->part = 0;
  history->previous = 0;
  double now = 8e8;
  history->length = 1;
  history->bytes[0] = 1;
  append_bytes(history, &now, sizeof now);
  append_number(history, 0);
  return 0;
}

int history_insert(history *history, uint64_t object_id) {
  return append_change(history, kind_insert, object_id);
}

int history_update(
    history *history, uint64_t object_id, const episode_row *old, const episode_row *new) {
  uint8_t fields[14];
  size_t count = changed_fields(old, new, fields);
  TRY(append_change(history, kind_update, object_id));
  append_number(history, count);
  for (size_t index = 0; index < count; index++) append_number(history, fields[index] * 2u);
  append_number(history, 0);
  return 0;
}

int history_update_progress(history *history, uint64_t object_id) {
  TRY(append_change(history, kind_update, object_id));
  append_number(history, 1);
  append_number(history, field_progress * 2);
  append_number(history, 0);
  return 0;
}

int history_delete(history *history, uint64_t object_id, const episode_row *old) {
  TRY(append_change(history, kind_delete, object_id));
  bool has_path = old->path_id.bytes != NULL;
  append_number(history, 9u + (has_path ? 2 : 0) + !isnan(old->favorite_at)
      + !isnan(old->watch_later_at) + !isnan(old->watched_at));
  append_value(history, field_id, old->id.bytes, old->id.length);
  append_value(history, field_title, old->title.bytes, old->title.length);
  append_value(history, field_summary, old->summary.bytes, old->summary.length);
  append_value(history, field_type, &old->type, 8);
  append_value(history, field_duration, &old->duration, 8);
  append_value(history, field_url, old->url.bytes, old->url.length);
  if (has_path) {
    append_value(history, field_path_id, old->path_id.bytes, old->path_id.length);
    append_value(history, field_position, &old->position, 8);
  }
  append_value(history, field_published_at, &old->published_at, 8);
  append_value(history, field_updated_at, &old->updated_at, 8);
  if (!isnan(old->favorite_at)) append_value(history, field_favorite_at, &old->favorite_at, 8);
  if (!isnan(old->watch_later_at)) {
    append_value(history, field_watch_later_at, &old->watch_later_at, 8);
  }
  if (!isnan(old->watched_at)) append_value(history, field_watched_at, &old->watched_at, 8);
  append_value(history, field_progress, &old->progress, 8);
  return 0;
}

int history_end(history *history) { return append_part(history); }

static int append_change(history *history, int kind, uint64_t object_id) {
  if (history->length >= part_bytes) {
    TRY(append_part(history));
    history->part += 1;
    history->previous = 0;
    history->length = 0;
  }
  append_number(history, (uint64_t)(entity_word + kind));
  int64_t step = (int64_t)(object_id - history->previous);
  append_number(history, ((uint64_t)step << 1) ^ (uint64_t)(step >> 63));
  history->previous = object_id;
  return 0;
}

static int append_part(history *history) {
  uint8_t bytes[12];
  write_big_endian(bytes, history->number);
  uint32_t part = __builtin_bswap32(history->part);
  memcpy(bytes + 8, &part, sizeof part);
  MDB_val key = {sizeof bytes, bytes}, value = {history->length, history->bytes};
  return mdb_put(history->transaction, history->tree, &key, &value, MDB_APPEND);
}

static void append_number(history *history, uint64_t number) {
  for (; number >= 0x80; number >>= 7) history->bytes[history->length++] = (uint8_t)number | 0x80;
  history->bytes[history->length++] = (uint8_t)number;
}

/// Appends to the current part. There is room: a change starts below 1,750 bytes, and takes at most
/// a record and fifty bytes.
static void append_bytes(history *history, const void *bytes, size_t length) {
  memcpy(history->bytes + history->length, bytes, length);
  history->length += length;
}

static void append_value(history *history, int field, const void *bytes, size_t length) {
  append_number(history, (uint64_t)field);
  history->bytes[history->length++] = 0;
  append_number(history, length);
  append_bytes(history, bytes, length);
}

static size_t changed_fields(const episode_row *old, const episode_row *new, uint8_t fields[14]) {
  const bool changed[] = {
    [field_id] = differ_texts(old->id, new->id),
    [field_title] = differ_texts(old->title, new->title),
    [field_summary] = differ_texts(old->summary, new->summary),
    [field_type] = old->type != new->type,
    [field_duration] = old->duration != new->duration,
    [field_url] = differ_texts(old->url, new->url),
    [field_path_id] = differ_texts(old->path_id, new->path_id),
    [field_position] = new->path_id.bytes != NULL && old->position != new->position,
    [field_published_at] = differ(old->published_at, new->published_at),
    [field_updated_at] = differ(old->updated_at, new->updated_at),
    [field_favorite_at] = differ(old->favorite_at, new->favorite_at),
    [field_watch_later_at] = differ(old->watch_later_at, new->watch_later_at),
    [field_watched_at] = differ(old->watched_at, new->watched_at),
    [field_progress] = differ(old->progress, new->progress),
  };
  size_t count = 0;
  for (uint8_t field = field_id; field <= field_progress; field++) {
    if (changed[field]) fields[count++] = field;
  }
  return count;
}

/// Compares dates by their bits, because an absent date is NaN and equals another absent one.
static bool differ(double left, double right) { return memcmp(&left, &right, sizeof left) != 0; }

static bool differ_texts(episode_text left, episode_text right) {
  return left.length != right.length
      || (left.length > 0 && memcmp(left.bytes, right.bytes, left.length) != 0);
}
