import Dispatch
import Glibc

/// A socket in the store's folder to which the writers of other processes send a byte after each
/// commit: the wake socket.
///
/// The bytes carry no information, so it does not matter if one is lost because the queue is full.
final class WakeSocket: Sendable {
  /// The name of the socket, "pid-random": the random part is needed because process ids are used
  /// again.
  let name: String
  private let folder: ObserversFolder
  // SAFETY: set up in `init`, and then only canceled, which Dispatch allows from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceRead

  /// Binds the socket.
  ///
  /// - Parameter onNotification: Called on `queue` after one or more notifications.
  /// - Returns: `nil` if the system refuses, as on a read-only file system.
  init?(
    in folder: ObserversFolder, queue: DispatchQueue, onNotification: @escaping @Sendable () -> Void
  ) {
    let name = "\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    guard let descriptor = folder.bindSocket(named: name) else { return nil }
    self.name = name
    self.folder = folder
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler {
      // First read the bytes and then look for commits: a byte that arrives in between wakes again.
      Self.drain(descriptor)
      onNotification()
    }
    // Dispatch must have released a descriptor before its number may be used again.
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  /// True while writers find it.
  var isBound: Bool { folder.holdsSocket(named: name) }

  /// Closes and removes the socket. After this, `onNotification` is called only for a
  /// notification that is already being handled.
  func remove() {
    folder.removeSocket(named: name)
    source.cancel()
  }

  private static func drain(_ descriptor: Int32) {
    var byte: UInt8 = 0
    // Bounded, so that a sender without pauses cannot block this loop: remaining bytes wake again.
    for _ in 0..<Limits.notificationsDrainedMax {
      guard recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 else { return }
    }
  }
}
