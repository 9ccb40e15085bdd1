extension KeyedDecodingContainer {
  /// What a payload that was written by hand may leave out.
  func value<T: Decodable>(_ key: Key, otherwise: T) throws -> T {
    try decodeIfPresent(T.self, forKey: key) ?? otherwise
  }
}
