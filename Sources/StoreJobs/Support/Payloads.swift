public import DurableJobs
import EntityStore

extension QueueName {
  /// The queue of syncs. A limit of this queue limits the use of the network.
  public static let sync: QueueName = "sync"
  /// The queue of the maintenance of the store.
  public static let maintenance: QueueName = "maintenance"
}

extension KeyedDecodingContainer {
  /// Decodes a value that a payload written by hand may leave out.
  func value<T: Decodable>(_ key: Key, otherwise: T) throws -> T {
    try decodeIfPresent(T.self, forKey: key) ?? otherwise
  }
}

enum PathKey {
  /// Returns a unique key for a path of any length: the path itself, or its hash if it is too long.
  static func of(_ path: String) -> String {
    guard path.utf8.count > Limits.keyBytesMax else { return path }
    return "hash " + String(UInt64(bitPattern: ContentHash.of(path)), radix: 16)
  }
}
