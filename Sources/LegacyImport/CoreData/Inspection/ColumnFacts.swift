import EntityModel

/// Statistics of the values of one column, in the rows of one entity.
struct ColumnFacts: Sendable {
  /// The number of archives that are read: few classes occur.
  private static let archivesReadMax = 50
  private static let fileNamesMax = 100_000

  private(set) var nulls = 0
  private(set) var integers = 0
  private(set) var reals = 0
  private(set) var texts = 0
  private(set) var badTexts = 0
  private(set) var blobs = 0
  private(set) var oversized = 0
  /// The range of the numbers without those of `placeholders`.
  private(set) var range: ClosedRange<Double>?
  /// The numbers of dates that programs use in place of none.
  private(set) var placeholders: [DatePlaceholder: Int] = [:]
  /// The number of blobs of 16 bytes; the next two are numbers of blobs, too.
  private(set) var blobsOf16Bytes = 0
  private(set) var blobsHeldInline = 0
  private(set) var blobsNamingFiles = 0
  private(set) var fileNames: Set<String> = []
  /// The classes of the archives among the first blobs.
  private(set) var archiveClasses: Set<String> = []
  private(set) var archivesRead = 0
  /// The reason why the first blob is no archive of known classes.
  private(set) var otherBlob: String?

  /// The number of blobs that external storage could not have written.
  var blobsOfNoStorage: Int { blobs - blobsHeldInline - blobsNamingFiles }
  var total: Int { nulls + values }
  var values: Int { integers + reals + texts + badTexts + blobs + oversized }

  mutating func add(_ cell: Cell) {
    switch cell {
    case .null: nulls += 1
    case .integer(let number):
      integers += 1
      widen(Double(number))
    case .real(let number):
      reals += 1
      if number.isFinite { widen(number) }
    case .text: texts += 1
    case .badText: badTexts += 1
    case .oversized: oversized += 1
    case .blob(let bytes): add(cell, bytes)
    }
  }

  private mutating func widen(_ number: Double) {
    if let placeholder = DatePlaceholder(rawValue: number) {
      placeholders[placeholder, default: 0] += 1
      return
    }
    let range = range ?? number...number
    self.range = min(range.lowerBound, number)...max(range.upperBound, number)
  }

  private mutating func add(_ cell: Cell, _ bytes: [UInt8]) {
    blobs += 1
    if bytes.count == 16 { blobsOf16Bytes += 1 }
    if bytes.first == 1 { blobsHeldInline += 1 }
    // One with an unsafe name is counted with those that are neither: `blobs` has it, and no other
    // number does.
    if let name = try? ExternalBlobs.fileName(cell) {
      blobsNamingFiles += 1
      if fileNames.count < Self.fileNamesMax { fileNames.insert(name) }
    }
    guard archivesRead < Self.archivesReadMax else { return }
    archivesRead += 1
    do throws(KeyedArchiveFailure) {
      archiveClasses.formUnion(try KeyedArchiveValue.classNames(in: bytes))
    } catch {
      otherBlob = otherBlob ?? error.description
    }
  }

  mutating func add(_ other: ColumnFacts) {
    nulls += other.nulls
    integers += other.integers
    reals += other.reals
    texts += other.texts
    badTexts += other.badTexts
    blobs += other.blobs
    oversized += other.oversized
    if let range = other.range {
      widen(range.lowerBound)
      widen(range.upperBound)
    }
    placeholders.merge(other.placeholders, uniquingKeysWith: +)
    blobsOf16Bytes += other.blobsOf16Bytes
    blobsHeldInline += other.blobsHeldInline
    blobsNamingFiles += other.blobsNamingFiles
    fileNames.formUnion(other.fileNames)
    archiveClasses.formUnion(other.archiveClasses)
    archivesRead += other.archivesRead
    otherBlob = otherBlob ?? other.otherBlob
  }

  /// A summary such as `521 null, 215 integer, 8 real`.
  var text: String {
    let counts = [
      (nulls, "null"), (integers, "integer"), (reals, "real"), (texts, "text"),
      (badTexts, "text that is not UTF-8"), (blobs, "blob"), (oversized, "too long"),
    ]
    let found = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return found.isEmpty ? "no rows" : found.joined(separator: ", ")
  }

  /// The range of the numbers, taken as seconds since 2001.
  var dates: String? {
    guard let range else { return nil }
    guard let first = CoreDataDate.value(range.lowerBound),
      let last = CoreDataDate.value(range.upperBound)
    else {
      return "some are beyond the years 1 to 9999 and become rejects"
    }
    return "from \(first.text) to \(last.text)"
  }
}

/// Dates that programs use in place of none, as seconds since 2001.
enum DatePlaceholder: Double, CaseIterable {
  /// `Date.distantPast`, which is before the year 1: no record can hold it.
  case distantPast = -63_114_076_800
  /// `Date.distantFuture`, the first day of the year 4001.
  case distantFuture = 63_113_904_000

  /// The word of the number for a conversion.
  var word: String { String(Int64(rawValue)) }

  var name: String {
    switch self {
    case .distantPast: "Date.distantPast"
    case .distantFuture: "Date.distantFuture"
    }
  }
}
