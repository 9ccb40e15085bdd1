import Logging

/// Bounds the length of a log line: of each text, of all texts together, and of nested metadata.
/// The journal cuts lines at 48 KiB, and an escape may take six bytes for one.
struct LogBudget {
  private static let textBytesMax = 4_096
  private static let depthMax = 4
  /// The bytes of an entry besides its text, so that empty entries are not free.
  private static let entryBytes = 4

  private var bytesLeft = 7_168

  mutating func cut(_ metadata: Logger.Metadata) -> [(key: String, value: Logger.Metadata.Value)] {
    cut(metadata, 0).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the text, or its beginning and an ellipsis.
  mutating func cut(_ text: String) -> String {
    let bytesMax = max(0, min(Self.textBytesMax, bytesLeft))
    bytesLeft -= Self.entryBytes
    guard text.utf8.count > bytesMax else {
      bytesLeft -= text.utf8.count
      return text
    }
    var kept = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > bytesMax { break }
      kept.append(scalar)
    }
    bytesLeft -= bytesMax
    return String(kept) + "…"
  }

  private mutating func cut(_ metadata: Logger.Metadata, _ depth: Int) -> Logger.Metadata {
    var kept: Logger.Metadata = [:]
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) where bytesLeft > 0 {
      kept[cut(key)] = cut(value, depth)
    }
    return kept
  }

  private mutating func cut(
    _ value: Logger.Metadata.Value, _ depth: Int
  ) -> Logger.Metadata.Value {
    switch value {
    case .string(let text): return .string(cut(text))
    case .stringConvertible(let value): return .string(cut("\(value)"))
    case _ where depth >= Self.depthMax: return "…"
    case .array(let values):
      var kept: [Logger.Metadata.Value] = []
      for value in values where bytesLeft > 0 { kept.append(cut(value, depth + 1)) }
      return .array(kept)
    case .dictionary(let entries): return .dictionary(cut(entries, depth + 1))
    }
  }
}
