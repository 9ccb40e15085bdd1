import EntityModel
import EntityStore
import Foundation
public import Migrations

// The names of the entities that `System/0001_figures.yaml` describes.
enum FigureRecord { static let entity = "_Figure" }
enum FeedFiguresRecord { static let entity = "_FeedFigures" }
enum SlowFetchRecord { static let entity = "_SlowFetch" }
enum IndexUseRecord { static let entity = "_IndexUse" }

extension MigrationSource {
  /// The system entities of the figures. A store that records figures is opened with this source.
  public static let figures = MigrationSource(embedded: [
    ("0001_figures", PackageResources._001_figures_yaml)
  ])
}

extension ReadTransaction {
  /// True if the migrations of the figures were applied.
  var hasFigures: Bool { catalog.entities[FigureRecord.entity] != nil }
}

extension Value {
  var int64Value: Int64? { if case .int64(let number) = self { number } else { nil } }
  var doubleValue: Double? { if case .double(let number) = self { number } else { nil } }
  var stringValue: String? { if case .string(let text) = self { text } else { nil } }
  var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
  var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
}

extension Record {
  mutating func set(_ values: [String: Value]) throws {
    for (name, value) in values { try set(name, to: value) }
  }
}

extension String {
  /// Returns the text, or its beginning and an ellipsis if it has more bytes.
  func cut(toBytes bytesMax: Int) -> String {
    guard utf8.count > bytesMax else { return self }
    let ellipsis = "…"
    var end = utf8.index(utf8.startIndex, offsetBy: max(0, bytesMax - ellipsis.utf8.count))
    while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
    return String(self[..<end]) + ellipsis
  }
}
