import SystemSupport

/// The names of attributes and relationships that key paths have been found to stand for.
///
/// To compare two key paths walks both, and a type may make its list of attributes anew each time
/// it is asked. The key path of a literal is one object however often its line runs, so that the
/// object alone tells the name the next time.
enum PropertyNames {
  struct Property {
    let name: String
    let isAttribute: Bool
  }

  /// Key paths that are put together while the program runs are new objects each time: a table
  /// that is full of those begins again.
  private static let capacity = 1_024
  private static let known = Locked<[ObjectIdentifier: Known]>([:])

  private struct Known: @unchecked Sendable {
    // SAFETY: held, so that no other object gets its address, and not used otherwise.
    let keyPath: AnyKeyPath
    let property: Property
  }

  static func property(of keyPath: AnyKeyPath) -> Property? {
    known.withLock { $0[ObjectIdentifier(keyPath)]?.property }
  }

  static func keep(_ property: Property, of keyPath: AnyKeyPath) {
    let found = Known(keyPath: keyPath, property: property)
    known.withLock { known in
      if known.count >= capacity { known.removeAll(keepingCapacity: true) }
      known[ObjectIdentifier(keyPath)] = found
    }
  }
}
