#include "feed_client.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct feed_client {
  CURL *easy;
  char *body;
  size_t length;
  size_t capacity;
  char etag[256];
};

static size_t take_body(char *bytes, size_t size, size_t count, void *context);
static size_t take_header(char *bytes, size_t size, size_t count, void *context);

feed_client *feed_client_open(void) {
  feed_client *client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->easy = curl_easy_init();
  if (client->easy == NULL) {
    free(client);
    return NULL;
  }
  curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(client->easy, CURLOPT_WRITEDATA, client);
  curl_easy_setopt(client->easy, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(client->easy, CURLOPT_HEADERDATA, client);
  curl_easy_setopt(client->easy, CURLOPT_BUFFERSIZE, (long)CURL_MAX_READ_SIZE);
  curl_easy_setopt(client->easy, CURLOPT_PROXY, "");
  return client;
}

void feed_client_close(feed_client *client) {
  curl_easy_cleanup(client->easy);
  free(client->body);
  free(client);
}

const char *feed_client_get(
    feed_client *client, const char *url, const char *etag, feed_response *response) {
  char condition[300];
  struct curl_slist *headers = NULL;
  if (etag != NULL && etag[0] != '\0') {
    snprintf(condition, sizeof condition, "If-None-Match: %s", etag);
    headers = curl_slist_append(NULL, condition);
  }
  client->length = 0;
  client->etag[0] = '\0';
  curl_easy_setopt(client->easy, CURLOPT_URL, url);
  curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, headers);
  CURLcode code = curl_easy_perform(client->easy);
  curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) return curl_easy_strerror(code);
  *response = (feed_response){.body = client->body, .length = client->length, .etag = client->etag};
  curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &response->status);
  return NULL;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
  feed_client *client = context;
  size_t added = size * count, needed = client->length + added + feed_response_padding;
  if (needed > client->capacity) {
    char *grown = realloc(client->body, needed * 2);
    if (grown == NULL) return 0;
    client->body = grown;
    client->capacity = needed * 2;
  }
  memcpy(client->body + client->length, bytes, added);
  client->length += added;
  return added;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
  feed_client *client = context;
  size_t length = size * count;
  if (length > 5 && strncasecmp(bytes, "etag:", 5) == 0) {
    size_t start = 5, end = length;
    while (start < end && bytes[start] == ' ') start++;
    while (end > start && (bytes[end - 1] == '\r' || bytes[end - 1] == '\n')) end--;
    snprintf(client->etag, sizeof client->etag, "%.*s", (int)(end - start), bytes + start);
  }
  return length;
}
