#ifndef MOORING_MICROHTTPD_H
#define MOORING_MICROHTTPD_H

#include <microhttpd.h>

#include "../CMooringLoading/loading.h"

// The functions of GNU libmicrohttpd that are called. Programs do not link the library: it is
// loaded when a web server starts.
#define MOORING_MICROHTTPD_FUNCTIONS(X) \
  X(MHD_start_daemon) \
  X(MHD_quiesce_daemon) \
  X(MHD_stop_daemon) \
  X(MHD_suspend_connection) \
  X(MHD_resume_connection) \
  X(MHD_get_connection_info) \
  X(MHD_get_connection_values_n) \
  X(MHD_create_response_from_buffer) \
  X(MHD_create_response_from_callback) \
  X(MHD_add_response_header) \
  X(MHD_queue_response) \
  X(MHD_destroy_response)

MOORING_LOADED_LIBRARY(mooring_microhttpd, MOORING_MICROHTTPD_FUNCTIONS)

// The callbacks of a server. Each gets `context`.
struct mooring_microhttpd_callbacks {
  void *_Nonnull context;
  MHD_NotifyConnectionCallback _Nonnull connection;
  void *_Nullable (*_Nonnull request_line)(
      void *_Nullable context, const char *_Nullable target,
      struct MHD_Connection *_Nullable connection);
  MHD_AccessHandlerCallback _Nonnull request;
  MHD_RequestCompletedCallback _Nonnull completed;
};

// Swift cannot call the variadic MHD_start_daemon and MHD_get_connection_info.

// Starts one thread that serves the connections of a listening socket. On failure returns NULL with
// errno.
static inline struct MHD_Daemon *_Nullable mooring_microhttpd_start(
    const struct mooring_microhttpd *_Nonnull library, int listener, unsigned int connections_max,
    size_t connection_bytes, unsigned int timeout_seconds,
    struct mooring_microhttpd_callbacks callbacks) {
  return (library->MHD_start_daemon)(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, callbacks.request,
      callbacks.context, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)listener,
      MHD_OPTION_CONNECTION_LIMIT, connections_max,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds,
      MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.context,
      MHD_OPTION_URI_LOG_CALLBACK, callbacks.request_line, callbacks.context,
      MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context, MHD_OPTION_END);
}

static inline int mooring_microhttpd_socket(
    const struct mooring_microhttpd *_Nonnull library, struct MHD_Connection *_Nonnull connection) {
  return (library->MHD_get_connection_info)(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
      ->connect_fd;
}

// The pointer that the callback for connections has set; NULL before that.
static inline void *_Nullable mooring_microhttpd_context(
    const struct mooring_microhttpd *_Nonnull library, struct MHD_Connection *_Nonnull connection) {
  return (library->MHD_get_connection_info)(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
      ->socket_context;
}

// The bytes of the request line and the header.
static inline size_t mooring_microhttpd_head_bytes(
    const struct mooring_microhttpd *_Nonnull library, struct MHD_Connection *_Nonnull connection) {
  return (library->MHD_get_connection_info)(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
      ->header_size;
}

#endif
