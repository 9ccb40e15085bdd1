#include "episode_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { hot_rows = 2000, episodes_per_path = 50, block_bytes = 16 << 20 };

static const double newest_loaded = 7.8e8;  // September 2025, in seconds since 2001
static const double one_year = 365.0 * 86400;

typedef struct block {
  struct block *next;
  size_t used;
  char bytes[];
} block;

struct episode_rows {
  size_t count;
  size_t paths;
  uint64_t random;
  episode_row *loaded;      // as generated
  episode_row *current;     // with every page applied
  uint32_t *recency;    // row numbers, least recently updated first; stale ones are skipped
  size_t recency_count;
  size_t recency_capacity;
  uint32_t *drawn_in;   // the page a row was last drawn for
  uint32_t pages;
  double clock;
  block *blocks;
};

static bool generate(episode_rows *rows);
static bool generate_row(
    episode_rows *rows, size_t index, uint32_t number, uint32_t age, int64_t *next_position);
static uint32_t *shuffled(episode_rows *rows);
static bool record_recent(episode_rows *rows, uint32_t row);
static size_t collect_hot(episode_rows *rows, uint32_t hot[hot_rows]);
static episode_text words(episode_rows *rows, size_t shortest, size_t longest);
static episode_text copy_text(episode_rows *rows, const char *bytes, size_t length);
static void *allocate(episode_rows *rows, size_t size);

// splitmix64: small, seedable, and the same everywhere.
static uint64_t next_random(episode_rows *rows) {
  uint64_t z = rows->random += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static uint64_t below(episode_rows *rows, uint64_t bound) { return next_random(rows) % bound; }

static double fraction(episode_rows *rows) { return (double)(next_random(rows) >> 11) * 0x1p-53; }

static double sparse_date(episode_rows *rows, unsigned percent) {
  return below(rows, 100) < percent ? newest_loaded - fraction(rows) * one_year : (double)NAN;
}

episode_rows *episode_rows_create(size_t count, uint64_t seed) {
  episode_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) return NULL;
  rows->count = count;
  rows->paths = count / episodes_per_path > 0 ? count / episodes_per_path : 1;
  rows->random = seed;
  rows->clock = newest_loaded + 1;
  if (!generate(rows)) {
    episode_rows_destroy(rows);
    return NULL;
  }
  return rows;
}

void episode_rows_destroy(episode_rows *rows) {
  for (block *block = rows->blocks; block != NULL;) {
    struct block *next = block->next;
    free(block);
    block = next;
  }
  free(rows->loaded);
  free(rows->current);
  free(rows->recency);
  free(rows->drawn_in);
  free(rows);
}

size_t episode_rows_count(const episode_rows *rows) { return rows->count; }
size_t episode_rows_path_count(const episode_rows *rows) { return rows->paths; }
const episode_row *episode_rows_all(const episode_rows *rows) { return rows->loaded; }

const episode_row *episode_rows_next_page(
    episode_rows *rows, episode_page_kind kind, size_t length) {
  uint32_t hot[hot_rows];
  size_t candidates = kind == episode_page_hot ? collect_hot(rows, hot) : rows->count;
  episode_row *page = length <= candidates ? allocate(rows, length * sizeof *page) : NULL;
  if (page == NULL) return NULL;
  rows->pages += 1;
  for (size_t filled = 0; filled < length;) {
    uint32_t draw = (uint32_t)below(rows, candidates);
    uint32_t row = kind == episode_page_hot ? hot[draw] : draw;
    if (rows->drawn_in[row] == rows->pages) continue;
    rows->drawn_in[row] = rows->pages;
    episode_row *current = &rows->current[row];
    current->updated_at = rows->clock += 0.25;
    current->title = words(rows, 32, 50);
    current->progress = fraction(rows);
    current->watch_later_at = sparse_date(rows, 5);
    if (current->title.bytes == NULL || !record_recent(rows, row)) return NULL;
    page[filled++] = *current;
  }
  return page;
}

static bool generate(episode_rows *rows) {
  rows->loaded = calloc(rows->count, sizeof *rows->loaded);
  rows->current = calloc(rows->count, sizeof *rows->current);
  rows->drawn_in = calloc(rows->count, sizeof *rows->drawn_in);
  uint32_t *numbers = shuffled(rows);
  uint32_t *ages = shuffled(rows);
  uint32_t *by_age = calloc(rows->count, sizeof *by_age);
  int64_t *next_position = calloc(rows->paths, sizeof *next_position);
  bool complete = rows->loaded && rows->current && rows->drawn_in && numbers && ages && by_age
      && next_position;
  for (size_t index = 0; complete && index < rows->count; index++) {
    complete = generate_row(rows, index, numbers[index], ages[index], next_position);
    by_age[ages[index]] = (uint32_t)index;
  }
  if (complete) memcpy(rows->current, rows->loaded, rows->count * sizeof *rows->current);
  size_t newest = rows->count < hot_rows ? rows->count : hot_rows;
  for (size_t age = newest; complete && age > 0; age--) {
    complete = record_recent(rows, by_age[age - 1]);
  }
  free(numbers);
  free(ages);
  free(by_age);
  free(next_position);
  return complete;
}

/// Generates one row. `age` is its rank by `updated_at`, 0 for the newest; dates are distinct.
static bool generate_row(
    episode_rows *rows, size_t index, uint32_t number, uint32_t age, int64_t *next_position) {
  episode_row *row = &rows->loaded[index];
  char text[64];
  int length = snprintf(text, sizeof text, "ep:%u", number);
  row->id = copy_text(rows, text, (size_t)length);
  length = snprintf(text, sizeof text, "https://cdn.example.org/e/%010llx.mp4",
      (unsigned long long)(next_random(rows) >> 24));
  row->url = copy_text(rows, text, (size_t)length);
  row->title = words(rows, 32, 50);
  row->summary = words(rows, 168, 230);
  row->type = below(rows, 4) == 0 ? 1 : 2 + (int64_t)below(rows, 2);
  row->duration = 60 + (int64_t)below(rows, 3540);
  if (below(rows, 100) < 80) {
    uint64_t path = below(rows, rows->paths);
    length = snprintf(text, sizeof text, "lp:%llu", (unsigned long long)path);
    row->path_id = copy_text(rows, text, (size_t)length);
    row->position = next_position[path]++;
  }
  row->updated_at = newest_loaded - one_year * age / (double)rows->count;
  row->published_at = row->updated_at - fraction(rows) * one_year;
  row->favorite_at = sparse_date(rows, 5);
  row->watch_later_at = sparse_date(rows, 5);
  row->watched_at = sparse_date(rows, 20);
  row->progress = isnan(row->watched_at) ? 0 : fraction(rows);
  return row->id.bytes && row->url.bytes && row->title.bytes && row->summary.bytes;
}

static uint32_t *shuffled(episode_rows *rows) {
  uint32_t *numbers = calloc(rows->count, sizeof *numbers);
  if (numbers == NULL) return NULL;
  for (size_t index = 0; index < rows->count; index++) {
    size_t other = below(rows, index + 1);
    numbers[index] = numbers[other];
    numbers[other] = (uint32_t)index;
  }
  return numbers;
}

static bool record_recent(episode_rows *rows, uint32_t row) {
  if (rows->recency_count == rows->recency_capacity) {
    size_t capacity = rows->recency_capacity > 0 ? rows->recency_capacity * 2 : hot_rows * 2;
    uint32_t *grown = realloc(rows->recency, capacity * sizeof *grown);
    if (grown == NULL) return false;
    rows->recency = grown;
    rows->recency_capacity = capacity;
  }
  rows->recency[rows->recency_count++] = row;
  return true;
}

static size_t collect_hot(episode_rows *rows, uint32_t hot[hot_rows]) {
  rows->pages += 1;  // a mark of its own, so that a row that was updated twice counts once
  size_t found = 0;
  for (size_t index = rows->recency_count; index > 0 && found < hot_rows; index--) {
    uint32_t row = rows->recency[index - 1];
    if (rows->drawn_in[row] == rows->pages) continue;
    rows->drawn_in[row] = rows->pages;
    hot[found++] = row;
  }
  return found;
}

/// Returns words of two languages, padded with letters to a random length in bytes.
static episode_text words(episode_rows *rows, size_t shortest, size_t longest) {
  static const char *const pool[] = {
    "river ", "tone ", "market ", "morning ", "teacher ", "listen ", "slowly ", "city ",
    "train ", "lesson ", "grammar ", "story ", "winter ", "kitchen ", "letter ", "again ",
    "学习", "中文", "故事", "早上好", "火车", "朋友", "慢慢", "城市",
    "听力", "老师", "冬天", "市场", "再见", "音乐", "汉字", "问题",
  };
  char text[256];
  size_t length = shortest + below(rows, longest - shortest + 1);
  size_t used = 0;
  for (;;) {
    const char *word = pool[below(rows, sizeof pool / sizeof *pool)];
    size_t bytes = strlen(word);
    if (used + bytes > length) break;
    memcpy(text + used, word, bytes);
    used += bytes;
  }
  while (used < length) text[used++] = (char)('a' + below(rows, 26));
  return copy_text(rows, text, length);
}

static episode_text copy_text(episode_rows *rows, const char *bytes, size_t length) {
  char *copy = allocate(rows, length);
  if (copy == NULL) return (episode_text){NULL, 0};
  memcpy(copy, bytes, length);
  return (episode_text){copy, (uint32_t)length};
}

static void *allocate(episode_rows *rows, size_t size) {
  size = (size + 7) & ~(size_t)7;
  if (rows->blocks == NULL || rows->blocks->used + size > block_bytes) {
    block *added = malloc(sizeof *added + block_bytes);
    if (added == NULL || size > block_bytes) {
      free(added);
      return NULL;
    }
    added->next = rows->blocks;
    added->used = 0;
    rows->blocks = added;
  }
  void *memory = rows->blocks->bytes + rows->blocks->used;
  rows->blocks->used += size;
  return memory;
}
