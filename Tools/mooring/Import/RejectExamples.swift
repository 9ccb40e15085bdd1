import EntityStore
import LegacyImport

/// The first few rejects of each code, in words.
struct RejectExamples: Sendable {
  private static let perCode = 3

  private var lines: [String: [String]] = [:]

  init() {}

  /// Those that a store keeps of an import.
  init(of name: String, in store: Store) throws {
    _ = try store.eachImportReject(of: name) { add($0) }
  }

  mutating func add(_ reject: ImportReject) {
    guard lines[reject.code, default: []].count < Self.perCode else { return }
    let what = reject.property.map { "\(reject.entity).\($0)" } ?? reject.entity
    lines[reject.code, default: []].append(
      "\(reject.table) \(reject.key), \(what): \(reject.message)")
  }

  func lines(of code: String) -> [String] { lines[code] ?? [] }
}
