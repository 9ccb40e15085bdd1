/// The calls of a transaction with arrays of bytes, for callers that have no buffer.
extension TreeTransaction {
  public final func get(_ tree: Tree, _ key: [UInt8]) throws -> UnsafeRawBufferPointer? {
    try key.withUnsafeBytes { try get(tree, $0) }
  }
}

extension TreeWriter {
  public func put(_ tree: Tree, key: [UInt8], value: [UInt8]) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try put(tree, key: key, value: $0) }
    }
  }

  public func append(_ tree: Tree, key: [UInt8], value: [UInt8]) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try append(tree, key: key, value: $0) }
    }
  }

  @discardableResult
  public func delete(_ tree: Tree, key: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { try delete(tree, key: $0) }
  }
}

extension Cursor {
  public mutating func seek(atLeast key: [UInt8]) throws -> Entry? {
    try key.withUnsafeBytes { try seek(atLeast: $0) }
  }

  public mutating func seek(exactly key: [UInt8]) throws -> Entry? {
    try key.withUnsafeBytes { try seek(exactly: $0) }
  }

  public mutating func seek(below key: [UInt8]) throws -> Entry? {
    try key.withUnsafeBytes { try seek(below: $0) }
  }
}
