internal import CMooringMalloc
internal import Dispatch
internal import Glibc

/// The resources that every command needs from the system. They are checked before the first task
/// begins, because the runtime waits forever for a thread that the system refuses.
enum ProcessResources {
  /// The threads of a short command: those of the runtime, of the store and of the command.
  private static let threadsMin = 8
  /// The open files of a command: those of the store, of its connections and of its scratch files.
  private static let filesMin: rlim_t = 64

  /// Prepares this process for a command. To be called on the main thread, before anything opens
  /// a file.
  ///
  /// A reader of the output that leaves is an error afterwards and no signal.
  ///
  /// - Throws: `CommandError` if the limits of the process are too low for any command.
  static func prepare() throws(CommandError) {
    signal(SIGPIPE, SIG_IGN)
    shareHeap()
    reserveStandardDescriptors()
    try checkFiles()
    try checkThreads()
  }

  /// Lets all threads allocate from one heap.
  ///
  /// A page of a feed is read on one thread and released on another. If each thread had a heap of
  /// its own, as glibc gives to the first eight threads of each processor, what one of them frees
  /// would be of no use to the others: a sync of 400,000 items needed a quarter more memory.
  private static func shareHeap() {
    mallopt(M_ARENA_MAX, 1)
  }

  /// Opens the null device in place of each standard stream that is closed. Otherwise a file of the
  /// store would get its number, and then the messages.
  ///
  /// The streams are opened for the wrong direction, so that their use fails as it did before.
  private static func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The system gives the lowest free number, which is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  private static func checkFiles() throws(CommandError) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur < filesMin else { return }
    throw CommandError(
      .tryAgain,
      "this process may open \(limit.rlim_cur) files, and a command needs \(filesMin); "
        + "raise `ulimit -n`")
  }

  /// Starts as many threads as a command needs, at the same time, and ends them.
  private static func checkThreads() throws(CommandError) {
    let end = DispatchSemaphore(value: 0)
    var threads: [pthread_t] = []
    defer {
      for _ in threads { end.signal() }
      for thread in threads { pthread_join(thread, nil) }
    }
    while threads.count < threadsMin {
      var thread = pthread_t()
      // SAFETY: the threads are joined before this function releases the semaphore.
      let failure = pthread_create(
        &thread, nil,
        { semaphore in
          guard let semaphore else { return nil }
          Unmanaged<DispatchSemaphore>.fromOpaque(semaphore).takeUnretainedValue().wait()
          return nil
        }, Unmanaged.passUnretained(end).toOpaque())
      guard failure == 0 else {
        throw CommandError(
          .tryAgain,
          "the system refuses a command's threads (\(String(cString: strerror(failure)))); "
            + "raise `ulimit -d`, `-v` or `-u`, or end other processes")
      }
      threads.append(thread)
    }
  }
}
