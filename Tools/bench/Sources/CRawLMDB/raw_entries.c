#include "raw_entries.h"

#include <math.h>
#include <string.h>

static void append_number(entry *entry, uint64_t value);
static void append_newest_first(entry *entry, double date);

void encode_entry(const episode_row *row, uint64_t object_id, int tree, entry *entry) {
  entry->length = 0;
  switch (tree) {
  case tree_id:
    encode_leading_text(row->id, entry);
    break;
  case tree_updated:
    append_newest_first(entry, row->updated_at);
    break;
  case tree_type_updated:
    entry->bytes[0] = (uint8_t)row->type;
    entry->length = 1;
    append_newest_first(entry, row->updated_at);
    break;
  case tree_watch_later:
    append_newest_first(entry, row->watch_later_at);
    break;
  case tree_favorite:
    append_newest_first(entry, row->favorite_at);
    break;
  case tree_watched:
    append_newest_first(entry, row->watched_at);
    break;
  case tree_path:
    if (row->path_id.bytes == NULL) break;
    encode_leading_text(row->path_id, entry);
    append_number(entry, (uint64_t)row->position);
    break;
  }
  if (entry->length > 0) append_number(entry, object_id);
}

void encode_leading_text(episode_text text, entry *entry) {
  uint32_t length = text.length < 20 ? text.length : 20;
  memcpy(entry->bytes, text.bytes, length);
  entry->bytes[length] = 0;
  entry->length = (uint8_t)(length + 1);
}

static void append_number(entry *entry, uint64_t value) {
  write_big_endian(entry->bytes + entry->length, value);
  entry->length += 8;
}

static void append_newest_first(entry *entry, double date) {
  if (isnan(date)) return;
  uint64_t bits;
  memcpy(&bits, &date, sizeof bits);
  uint64_t ordered = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
  append_number(entry, ~ordered);
}

int compare_entries(const void *left, const void *right) {
  const entry *a = left, *b = right;
  uint8_t common = a->length < b->length ? a->length : b->length;
  int order = memcmp(a->bytes, b->bytes, common);
  return order != 0 ? order : (int)a->length - (int)b->length;
}

uint64_t read_big_endian(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

void write_big_endian(uint8_t *bytes, uint64_t value) {
  value = __builtin_bswap64(value);
  memcpy(bytes, &value, sizeof value);
}

size_t encode_record(const episode_row *row, uint8_t record[longest_record]) {
  record_head head = {
    .published_at = row->published_at, .updated_at = row->updated_at,
    .favorite_at = row->favorite_at, .watch_later_at = row->watch_later_at,
    .watched_at = row->watched_at, .progress = row->progress,
    .duration = (uint32_t)row->duration, .position = (uint32_t)row->position,
    .id = (uint16_t)row->id.length, .title = (uint16_t)row->title.length,
    .summary = (uint16_t)row->summary.length, .url = (uint16_t)row->url.length,
    .path_id = (uint16_t)row->path_id.length, .type = (uint8_t)row->type,
  };
  const episode_text texts[] = {row->id, row->title, row->summary, row->url, row->path_id};
  const size_t text_count = sizeof texts / sizeof *texts;
  size_t total = sizeof head;
  for (size_t index = 0; index < text_count; index++) total += texts[index].length;
  if (total > longest_record) return 0;
  memcpy(record, &head, sizeof head);
  size_t length = sizeof head;
  for (size_t index = 0; index < text_count; index++) {
    if (texts[index].length == 0) continue;
    memcpy(record + length, texts[index].bytes, texts[index].length);
    length += texts[index].length;
  }
  return length;
}

bool read_record(MDB_val record, episode_row *row) {
  record_head head;
  if (record.mv_size < sizeof head) return false;
  memcpy(&head, record.mv_data, sizeof head);
  size_t texts = (size_t)head.id + head.title + head.summary + head.url + head.path_id;
  if (record.mv_size != sizeof head + texts) return false;
  const char *text = (const char *)record.mv_data + sizeof head;
  *row = (episode_row){
    .type = head.type, .duration = head.duration, .position = head.position,
    .published_at = head.published_at, .updated_at = head.updated_at,
    .favorite_at = head.favorite_at, .watch_later_at = head.watch_later_at,
    .watched_at = head.watched_at, .progress = head.progress,
  };
  row->id = (episode_text){text, head.id};
  row->title = (episode_text){text += head.id, head.title};
  row->summary = (episode_text){text += head.title, head.summary};
  row->url = (episode_text){text += head.summary, head.url};
  text += head.url;
  row->path_id = (episode_text){head.path_id > 0 ? text : NULL, head.path_id};
  return true;
}

bool read_card(MDB_val record, episode_text *title, double *updated_at) {
  const record_head *head = read_head(record);
  if (head == NULL || record.mv_size < sizeof *head + head->id + head->title) return false;
  *title = (episode_text){(const char *)(head + 1) + head->id, head->title};
  *updated_at = head->updated_at;
  return true;
}

const record_head *read_head(MDB_val record) {
  return record.mv_size >= sizeof(record_head) ? record.mv_data : NULL;
}
