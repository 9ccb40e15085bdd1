import Glibc

/// Waits until at least one of the descriptors has one of its events, an error or a hang-up, and
/// returns for each whether it has.
func waitUntilReady(_ entries: [(descriptor: Int32, events: Int32)]) throws -> [Bool] {
  var descriptors = entries.map { pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0) }
  while poll(&descriptors, nfds_t(descriptors.count), -1) < 0 {
    guard errno == EINTR else { throw systemError("poll") }
  }
  return descriptors.map { $0.revents != 0 }
}

/// Keeps a descriptor out of the processes that a test starts.
func closeOnExec(_ descriptor: Int32) {
  // It cannot fail on a descriptor that was opened just before.
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
}

func setOption<Value: BitwiseCopyable>(
  _ descriptor: Int32, level: Int32, _ name: Int32, _ value: Value
) {
  // SAFETY: the system copies the bytes of `value` before the call returns. The options that we
  // set exist for every TCP socket, so the call cannot fail.
  _ = withUnsafeBytes(of: value) {
    setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count))
  }
}

func systemError(_ call: String) -> LoopbackError {
  LoopbackError(code: .system, context: "\(call): \(systemMessage(errno))")
}

func systemMessage(_ number: Int32) -> String {
  // SAFETY: strerror returns a NUL-terminated string, which is copied at once. glibc keeps the
  // strings of known numbers in constant memory, so another thread cannot change them.
  String(cString: strerror(number))
}
