import Dispatch
import Glibc

/// A socket in the store's folder to which the writers of other processes send a byte after each
/// commit.
///
/// The bytes say nothing but "look"; so one that is lost because the queue is full is no loss.
final class Doorbell: Sendable {
  /// "pid-random": the random part, because a pid comes again.
  let name: String
  private let folder: ObserversFolder
  // SAFETY: set up in `init`, and then only canceled, which Dispatch allows from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceRead

  /// Hangs a bell.
  ///
  /// - Parameter onRing: Called on `queue` after one or more rings.
  /// - Returns: `nil` if the system refuses, as on a read-only file system.
  init?(
    in folder: ObserversFolder, queue: DispatchQueue, onRing: @escaping @Sendable () -> Void
  ) {
    let name = "\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    guard let descriptor = folder.bindSocket(named: name) else { return nil }
    self.name = name
    self.folder = folder
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler {
      // First the bytes and then the look: one that comes between them rings again.
      Self.drain(descriptor)
      onRing()
    }
    // Dispatch must have let go of a descriptor before its number may be used again.
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  /// Whether writers still find it.
  var isHung: Bool { folder.holdsSocket(named: name) }

  /// No ring comes after this but one that is under way.
  func takeDown() {
    folder.removeSocket(named: name)
    source.cancel()
  }

  private static func drain(_ descriptor: Int32) {
    var byte: UInt8 = 0
    // Who sends without a pause keeps nobody here: what is left rings again.
    for _ in 0..<Limits.ringsDrainedMax {
      guard recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 else { return }
    }
  }
}
