extension LoopbackServer {
  /// The bounds of the server, so that a faulty client cannot exhaust the machine that tests it.
  public enum Limits {
    /// Bytes of a request's line and headers: eight times what common servers take, because
    /// clients are tested with long URLs and cursors.
    public static let headerBytes = 64 << 10

    /// Bytes of a request's body: feeds are read, not written.
    public static let bodyBytes = 1 << 20

    /// Connections served at once, one thread each. Further ones wait in the kernel's queue.
    public static let connections = 64

    /// Requests that ``LoopbackServer/requests`` remembers.
    public static let loggedRequests = 10_000

    /// Bytes of remembered requests, since 10,000 large bodies would be 10 GB.
    public static let loggedBytes = 64 << 20

    /// Seconds that an idle connection, or one whose request does not go on, keeps its thread.
    public static let idleSeconds = 60

    /// Bytes of stack of a connection's thread; handlers are shallow.
    static let stackBytes = 1 << 20
  }
}
