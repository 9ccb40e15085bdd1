import SystemSupport

/// A cache of the attribute and relationship names of key paths.
///
/// A comparison of two key paths walks both, and a type may create its list of attributes in every
/// access. The key path of a literal is one object however often its line runs, so the object
/// itself is the key of the cache.
enum PropertyNames {
  struct Property {
    let name: String
    let isAttribute: Bool
  }

  /// The largest number of entries. Key paths that are composed while the program runs are new
  /// objects each time; a full cache is emptied.
  private static let capacity = 1_024
  private static let known = Locked<[ObjectIdentifier: Known]>([:])

  private struct Known: @unchecked Sendable {
    // SAFETY: retained so that no other object gets its address, and not used otherwise.
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
