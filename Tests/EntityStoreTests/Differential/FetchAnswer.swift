import EntityModel

/// The result of a request.
enum FetchAnswer: Equatable {
  case identities([Int64])
  case count(Int)
  case rows([[Value]])

  var count: Int {
    switch self {
    case .identities(let ids): ids.count
    case .count(let count): count
    case .rows(let rows): rows.count
    }
  }

  /// For people.
  var text: String {
    switch self {
    case .identities(let ids): "\(ids)"
    case .count(let count): "\(count)"
    case .rows(let rows):
      "\(rows.count) rows: "
        + rows.prefix(60).map { "(\($0.map(Self.text).joined(separator: " | ")))" }.joined()
    }
  }

  private static func text(_ value: Value) -> String {
    let text = value.text
    return text.utf8.count > 80 ? "…\(text.suffix(8)) (\(text.utf8.count) bytes)" : text
  }
}
