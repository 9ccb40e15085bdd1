#pragma once

#include <curl/curl.h>

// Swift cannot call the variadic curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt. Each
// wrapper below passes one of the argument types that libcurl's options are documented to take.

static inline CURLcode mooring_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode mooring_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode mooring_curl_set_string(
    CURL *easy, CURLoption option, const char *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode mooring_curl_set_pointer(
    CURL *easy, CURLoption option, void *_Nullable value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode mooring_curl_set_error_buffer(CURL *easy, char *_Nonnull buffer) {
  return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

static inline CURLcode mooring_curl_set_headers(CURL *easy, struct curl_slist *_Nullable list) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode mooring_curl_set_receiver(
    CURL *easy, CURLoption option, curl_write_callback _Nonnull function) {
  return curl_easy_setopt(easy, option, function);
}

static inline CURLcode mooring_curl_set_socket_opener(
    CURL *easy, curl_opensocket_callback _Nonnull function) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode mooring_curl_set_request_gate(
    CURL *easy, curl_prereq_callback _Nonnull function) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode mooring_curl_get_long(CURL *easy, CURLINFO info, long *_Nonnull value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode mooring_curl_get_offset(
    CURL *easy, CURLINFO info, curl_off_t *_Nonnull value) {
  return curl_easy_getinfo(easy, info, value);
}

// The string belongs to the handle and lives until its next transfer.
static inline CURLcode mooring_curl_get_string(
    CURL *easy, CURLINFO info, char *_Nullable *_Nonnull value) {
  return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode mooring_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
