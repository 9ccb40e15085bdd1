import EntityStore
import Foundation
import LMDB

/// Who may change the schema of a store: one at a time.
///
/// A kernel lock on the file `migrate.lock`, which holds `pid\tcommand\n` of the last who took it.
/// The kernel frees it when its holder dies, so that there is nothing to clear.
final class MigrationLock {
  private static let wholeFile = FileRegionLock()
  private static let holderBytesMax = 512
  private let descriptor: Int32

  /// Takes the lock.
  ///
  /// - Parameter limit: How long it waits for another holder.
  /// - Parameter isCancelled: Asked while it waits.
  /// - Throws: `storage` with the code `busy`, saying who holds it.
  init(
    folder: String, within limit: Duration, isCancelled: () -> Bool = { false }
  ) throws(StoreError) {
    let path = folder + "/migrate.lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.refusal(path, errno) }
    let deadline = ContinuousClock.now + limit
    while !Self.wholeFile.set(.exclusive, of: descriptor) {
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
        throw Self.refusal(path, errno)
      }
      guard ContinuousClock.now < deadline, !isCancelled() else { throw Self.busy(descriptor) }
      usleep(10_000)
    }
    sign()
  }

  deinit {
    guard descriptor >= 0 else { return }
    Self.wholeFile.set(.none, of: descriptor)
    close(descriptor)
  }

  /// Whether somebody holds the lock, and who; `nil` if nobody does.
  ///
  /// Only asks the kernel: to take it for a moment could make a run fail that begins just then.
  static func holder(in folder: String) -> String? {
    let descriptor = open(folder + "/migrate.lock", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard wholeFile.holder(of: descriptor) != nil else { return nil }
    return name(descriptor) ?? "another process"
  }

  /// It serves a message only, so that a full disk here is no error.
  private func sign() {
    let words = CommandLine.arguments.joined(separator: " ")
    let line = Array("\(getpid())\t\(words)\n".utf8.prefix(Self.holderBytesMax))
    if pwrite(descriptor, line, line.count, 0) == line.count { ftruncate(descriptor, line.count) }
  }

  /// The file may hold anything: only printable characters get out.
  private static func name(_ descriptor: Int32) -> String? {
    var buffer = [UInt8](repeating: 0, count: holderBytesMax)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return nil }
    let parts = buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
      .split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      .map { part in
        String(
          String(decoding: part, as: UTF8.self).unicodeScalars
            .filter { $0.value >= 0x20 && $0.value != 0x7f })
      }
    guard parts.count == 2 else { return nil }
    return "process \(parts[0]), \(parts[1])"
  }

  private static func busy(_ descriptor: Int32) -> StoreError {
    busy(by: name(descriptor) ?? "another process")
  }

  /// What others are told who cannot go on before the holder has finished.
  static func busy(by holder: String) -> StoreError {
    let error = LMDBError(
      .busy, "a migration is under way", context: [("by", holder)],
      advice: "wait for it, or end that process: another run goes on where it stopped")
    return StoreError(.storage, error.summary, underlying: error)
  }

  private static func refusal(_ path: String, _ number: Int32) -> StoreError {
    let error = LMDBError(
      .permission, "the lock of migrations cannot be taken",
      context: [("path", path), ("reason", String(cString: strerror(number)))],
      advice: "see to it that the store's folder can be written")
    return StoreError(.storage, error.summary, underlying: error)
  }
}
