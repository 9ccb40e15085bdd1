import Mooring
import StrictYAML

@testable import FeedDocuments
@testable import Migrations

/// Reads the text before a line `---` as a mapping and the rest as a document. Each gives a value
/// or an error, that of a mapping with a position in the file. A document that is read twice gives
/// equal pages, which keep their bounds.
@_cdecl("fuzz_feed_mapping")
public func fuzzFeedMapping(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  guard let line = input.firstRange(of: "\n---\n") else { return }
  let mappings: FeedMappings
  do throws(YAMLError) {
    mappings = try FeedMappings(
      FeedMappingText(String(input[..<line.lowerBound]), file: "fuzz"), schema: sample,
      entity: "Sample")
  } catch {
    guard error.line >= 1, error.column >= 1 else {
      fatalError("an error without a place: \(error)")
    }
    return
  }
  let document = Array(input[line.upperBound...].utf8)
  guard let first = page(of: document, mappings) else { return }
  guard first == page(of: document, mappings) else { fatalError("read twice, two pages") }
  guard first.drift.unknownNames.count <= FormatDrift.namesMax,
    first.items.allSatisfy({ !$0.id.isEmpty })
  else { fatalError("out of bounds: \(first)") }
}

private func page(of document: [UInt8], _ mappings: FeedMappings) -> FeedPage? {
  let padded = document + Array(repeating: UInt8(ascii: "7"), count: JSONParser.padding)
  return padded.withUnsafeBytes { bytes in
    let text = UnsafeRawBufferPointer(rebasing: bytes.prefix(document.count))
    var source = DocumentSource()
    source.url = "https://feed.example/list?page=1"
    do throws(DocumentError) {
      return try FeedPage.parse(text, source, by: mappings)
    } catch {
      return nil
    }
  }
}

/// An entity with every type that a mapping can fill.
private let sample: Schema = {
  do {
    var change = SchemaChange(schema: Schema())
    let migration = try MigrationFile.read(Array(text.utf8), name: "0001_sample", file: "sample")
    for step in migration.steps { try change.apply(step) }
    return change.schema
  } catch {
    fatalError("no schema: \(error)")
  }
}()

private let text = """
  line: fuzz
  summary: Every type
  steps:
    - createEntity:
        name: Sample
        attributes:
          - { name: id, type: string }
          - { name: feedID, type: int64, optional: true }
          - { name: updatedAt, type: date, optional: true }
          - { name: text, type: string, optional: true }
          - { name: number, type: int64, optional: true }
          - { name: ratio, type: double, optional: true }
          - { name: price, type: decimal, optional: true }
          - { name: flag, type: bool, optional: true }
          - { name: day, type: date, optional: true }
          - { name: list, type: strings, optional: true }
          - { name: link, type: url, optional: true }
          - { name: token, type: uuid, optional: true }
          - { name: bytes, type: data, optional: true }
          - { name: state, type: enum, values: { open: 1, shut: 2 }, optional: true }
  """
