#pragma once

#include <curl/curl.h>

#include "../CMooringLoading/loading.h"

// The functions of libcurl that are called. Programs do not link the library: it is loaded when the
// first URL is read, because 30 other libraries come with it, which run initializers of their own.
#define MOORING_LIBCURL_FUNCTIONS(X) \
  X(curl_global_init) \
  X(curl_easy_init) \
  X(curl_easy_cleanup) \
  X(curl_easy_strerror) \
  X(curl_easy_setopt) \
  X(curl_easy_getinfo) \
  X(curl_slist_append) \
  X(curl_slist_free_all) \
  X(curl_multi_init) \
  X(curl_multi_cleanup) \
  X(curl_multi_setopt) \
  X(curl_multi_add_handle) \
  X(curl_multi_remove_handle) \
  X(curl_multi_perform) \
  X(curl_multi_info_read) \
  X(curl_multi_poll) \
  X(curl_multi_wakeup) \
  X(curl_multi_strerror) \
  X(curl_url) \
  X(curl_url_cleanup) \
  X(curl_url_set) \
  X(curl_url_get) \
  X(curl_url_strerror) \
  X(curl_free) \
  X(curl_getdate) \
  X(curl_version)

MOORING_LOADED_LIBRARY(mooring_libcurl, MOORING_LIBCURL_FUNCTIONS)

// Swift cannot call the variadic curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt. Each
// wrapper below passes one of the argument types that libcurl's options are documented to take. The
// names are in parentheses because libcurl has macros of these names.

static inline CURLcode mooring_curl_set_long(
    const struct mooring_libcurl *_Nonnull curl, CURL *easy, CURLoption option, long value) {
  return (curl->curl_easy_setopt)(easy, option, value);
}

static inline CURLcode mooring_curl_set_offset(
    const struct mooring_libcurl *_Nonnull curl, CURL *easy, CURLoption option, curl_off_t value) {
  return (curl->curl_easy_setopt)(easy, option, value);
}

static inline CURLcode mooring_curl_set_string(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, CURLoption option, const char *_Nullable value) {
  return (curl->curl_easy_setopt)(easy, option, value);
}

static inline CURLcode mooring_curl_set_pointer(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, CURLoption option, void *_Nullable value) {
  return (curl->curl_easy_setopt)(easy, option, value);
}

static inline CURLcode mooring_curl_set_error_buffer(
    const struct mooring_libcurl *_Nonnull curl, CURL *easy, char *_Nonnull buffer) {
  return (curl->curl_easy_setopt)(easy, CURLOPT_ERRORBUFFER, buffer);
}

static inline CURLcode mooring_curl_set_headers(
    const struct mooring_libcurl *_Nonnull curl, CURL *easy, struct curl_slist *_Nullable list) {
  return (curl->curl_easy_setopt)(easy, CURLOPT_HTTPHEADER, list);
}

// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode mooring_curl_set_receiver(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, CURLoption option, curl_write_callback _Nonnull function) {
  return (curl->curl_easy_setopt)(easy, option, function);
}

static inline CURLcode mooring_curl_set_socket_opener(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, curl_opensocket_callback _Nonnull function) {
  return (curl->curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode mooring_curl_set_request_gate(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, curl_prereq_callback _Nonnull function) {
  return (curl->curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode mooring_curl_get_long(
    const struct mooring_libcurl *_Nonnull curl, CURL *easy, CURLINFO info, long *_Nonnull value) {
  return (curl->curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode mooring_curl_get_offset(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, CURLINFO info, curl_off_t *_Nonnull value) {
  return (curl->curl_easy_getinfo)(easy, info, value);
}

// The string belongs to the handle and lives until its next transfer.
static inline CURLcode mooring_curl_get_string(
    const struct mooring_libcurl *_Nonnull curl,
    CURL *easy, CURLINFO info, char *_Nullable *_Nonnull value) {
  return (curl->curl_easy_getinfo)(easy, info, value);
}

static inline CURLMcode mooring_curl_multi_set_long(
    const struct mooring_libcurl *_Nonnull curl, CURLM *multi, CURLMoption option, long value) {
  return (curl->curl_multi_setopt)(multi, option, value);
}
