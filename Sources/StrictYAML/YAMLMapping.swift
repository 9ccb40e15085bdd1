import TextFormats

/// A mapping that is read strictly: the reader takes each key it knows, and ``finish()`` refuses
/// what is left.
///
/// Keys compare as Swift strings do, so two encodings of the same accented letter are one key.
public struct YAMLMapping: Sendable {
  public let file: String
  private let position: Position
  private let entries: [YAMLNode.Entry]
  private let indexes: [String: Int]
  private var taken: Set<Int> = []
  private var known: [String] = []

  init(file: String, position: Position, entries: [YAMLNode.Entry]) {
    self.file = file
    self.position = position
    self.entries = entries
    // The builder has refused duplicates.
    indexes = Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].key, $0) })
  }

  /// The line where the mapping starts, from 1.
  public var line: Int { position.line }
  /// The column where the mapping starts, in code points, from 1.
  public var column: Int { position.column }

  /// The keys in the order of the file, each with its line.
  public var keys: [(key: String, line: Int)] {
    entries.map { ($0.key, $0.position.line) }
  }

  /// Takes the value of a key that must be there.
  ///
  /// - Throws: ``YAMLError`` at the mapping if it is not.
  public mutating func required(_ key: String) throws(YAMLError) -> YAMLNode {
    if let value = optional(key) { return value }
    let untaken = entries.indices.filter { !taken.contains($0) }.map { entries[$0].key }
    if let similar = NearestName.of(key, among: untaken), let index = indexes[similar] {
      let line = entries[index].position.line
      throw error("the key \"\(key)\" is missing; is \(excerpt(similar)) at line \(line) meant?")
    }
    throw error("the key \"\(key)\" is missing; add it")
  }

  /// Takes the value of a key that may be there.
  ///
  /// - Returns: The value, or nil if the key is not there. A key with the value `null` is there.
  public mutating func optional(_ key: String) -> YAMLNode? {
    known.append(key)
    guard let index = indexes[key] else { return nil }
    taken.insert(index)
    return entries[index].value
  }

  /// Ends the reading: every key must have been taken.
  ///
  /// - Throws: ``YAMLError`` at the first key that was not, with the nearest key that was asked
  ///   for.
  public func finish() throws(YAMLError) {
    guard let index = entries.indices.first(where: { !taken.contains($0) }) else { return }
    let entry = entries[index]
    let unused = known.filter { indexes[$0] == nil }
    let advice =
      if let similar = NearestName.of(entry.key, among: unused) {
        "did you mean \"\(similar)\"?"
      } else if known.isEmpty {
        "no key is expected here"
      } else {
        "known keys: \(known.joined(separator: ", "))"
      }
    throw YAMLError(
      file: file, line: entry.position.line, column: entry.position.column,
      summary: "the key \(excerpt(entry.key)) is unknown; \(advice)")
  }

  /// An error at the place of this mapping, for what only the caller can judge.
  public func error(_ summary: String) -> YAMLError {
    YAMLError(file: file, line: line, column: column, summary: summary)
  }
}
