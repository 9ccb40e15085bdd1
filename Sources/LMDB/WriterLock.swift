import Glibc
import Synchronization

/// The turn of one process to write.
///
/// LMDB has a writer lock of its own, and it is taken after this one; but it waits without a
/// deadline, does not say who holds it, and is not fair: a process that commits chunk after chunk
/// kept another waiting for 5.7 s. So two files stand before it, each under `flock`:
///
///     writer.turn   held while waiting: whoever holds it is next
///     writer.lock   held while writing; contains "pid\tcommand\n" of the last who took it
///
/// To write, take `turn`, then `lock`, then release `turn`. A waiter holds `turn`, so that a
/// holder that has committed cannot overtake it: turns alternate. The kernel frees both when a
/// process dies.
// @unchecked: descriptors are immutable, and the kernel serialises what is done to them.
final class WriterLock: @unchecked Sendable {
  private let folder: String
  private let turn: Int32
  private let lock: Int32
  /// A second open of `writer.turn`. `flock` belongs to the open file, so that a probe through
  /// `turn` would take or drop the turn of a thread that waits.
  private let probe: Int32
  private let isHeld = Atomic<Bool>(false)

  static func open(folder: String) throws(LMDBError) -> WriterLock {
    var descriptors: [Int32] = []
    for name in ["writer.turn", "writer.lock", "writer.turn"] {
      let path = folder + "/" + name
      let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        let number = errno
        for opened in descriptors { Glibc.close(opened) }
        throw .system(number, "the writer lock cannot be opened", context: [("path", path)])
      }
      descriptors.append(descriptor)
    }
    return WriterLock(folder: folder, descriptors: descriptors)
  }

  private init(folder: String, descriptors: [Int32]) {
    self.folder = folder
    turn = descriptors[0]
    lock = descriptors[1]
    probe = descriptors[2]
  }

  func close() {
    for descriptor in [turn, lock, probe] { Glibc.close(descriptor) }
  }

  /// Waits for the turn and the lock, together at most `limit`.
  ///
  /// - Throws: `.busy` with the holder's pid and command line.
  func acquire(within limit: Duration) throws(LMDBError) {
    let deadline = ContinuousClock.now + limit
    try wait(for: turn, until: deadline)
    defer { flock(turn, LOCK_UN) }
    try wait(for: lock, until: deadline)
    isHeld.store(true, ordering: .releasing)
    signHolder()
  }

  func release() {
    isHeld.store(false, ordering: .releasing)
    flock(lock, LOCK_UN)
  }

  /// Whether a process holds the turn, that is, waits for this one.
  var anotherProcessWaits: Bool {
    guard isHeld.load(ordering: .acquiring) else { return false }
    // Shared, so that two that probe do not take each other for a waiter.
    guard flock(probe, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(probe, LOCK_UN)
    return false
  }

  private func wait(
    for descriptor: Int32, until deadline: ContinuousClock.Instant
  ) throws(LMDBError) {
    // A blocking flock could be given a deadline only by a signal. Short sleeps cost a waiter at
    // most 5 ms.
    var pause: UInt32 = 200
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw .system(errno, "the writer lock cannot be taken", context: [("path", folder)])
      }
      guard ContinuousClock.now < deadline else { throw busy() }
      usleep(pause)
      pause = min(pause * 2, 5_000)
    }
  }

  private func busy() -> LMDBError {
    var context = [("path", folder)]
    if let holder = readHolder() {
      context += [("pid", holder.pid), ("command", holder.command)]
    }
    return LMDBError(
      .busy, "another process is writing to the store", context: context,
      advice: "try again later, or end that process")
  }

  // MARK: The holder's name

  private static let holderBytesMax = 512

  /// Writes who holds the lock, if the file does not say so already. It serves an error message
  /// only, so that a full disk here is no error.
  private func signHolder() {
    let name = Self.ownName
    var buffer = [UInt8](repeating: 0, count: Self.holderBytesMax)
    let count = pread(lock, &buffer, buffer.count, 0)
    if count == name.count, buffer.prefix(count).elementsEqual(name) { return }
    if pwrite(lock, name, name.count, 0) == name.count { ftruncate(lock, name.count) }
  }

  /// The file may hold anything: only a decimal pid and printable characters get out.
  private func readHolder() -> (pid: String, command: String)? {
    var buffer = [UInt8](repeating: 0, count: Self.holderBytesMax)
    let count = pread(lock, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    let line = buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
    let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
    guard let pid = parts.first, (1...10).contains(pid.count),
      pid.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    let command = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
    return (
      String(decoding: pid, as: UTF8.self),
      String(command.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f })
    )
  }

  private static let ownName: [UInt8] = {
    let words = CommandLine.arguments.joined(separator: " ").utf8
      .map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }
    let line = "\(getpid())\t".utf8 + words
    return Array(line.prefix(holderBytesMax - 1)) + [UInt8(ascii: "\n")]
  }()
}
