#include "episode_result.h"

#include <stdlib.h>
#include <string.h>

enum { text_per_row = 512 };

episode_result *episode_result_create(size_t capacity) {
  episode_result *result = calloc(1, sizeof *result);
  if (result == NULL) return NULL;
  result->capacity = capacity;
  result->rows = calloc(capacity, sizeof *result->rows);
  result->cards = calloc(capacity, sizeof *result->cards);
  result->text = malloc(capacity * text_per_row);
  if (result->rows != NULL && result->cards != NULL && result->text != NULL) return result;
  episode_result_destroy(result);
  return NULL;
}

void episode_result_destroy(episode_result *result) {
  free(result->rows);
  free(result->cards);
  free(result->text);
  free(result);
}

episode_text episode_result_copy(episode_result *result, episode_text text) {
  if (text.bytes == NULL) return text;
  char *copy = result->text + result->used;
  memcpy(copy, text.bytes, text.length);
  result->used += text.length;
  return (episode_text){copy, text.length};
}
