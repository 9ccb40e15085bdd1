import EntityModel
import FeedTestSupport
import Foundation
import StrictYAML
import TestSupport
import Testing

@testable import FeedDocuments

/// Mappings and documents with bytes changed at random: a page, or an error with its place.
@Suite struct MappingMutationTests {
  private static let seeds = (1...4).map(UInt64.init)

  @Test(arguments: seeds)
  func mutatedMappingsAndDocumentsNeverCrash(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let schema = try TestSchema.library.get()
    var pages = 0
    for text in try inputs() {
      for round in 0..<300 {
        let mutant = String(decoding: mutated(text, &random), as: UTF8.self)
        guard let line = mutant.firstRange(of: "\n---\n") else { continue }
        let mapping = FeedMappingText(String(mutant[..<line.lowerBound]), file: "m")
        let mappings: FeedMappings
        do throws(YAMLError) {
          mappings = try FeedMappings(mapping, schema: schema, entity: "Sample")
        } catch {
          #expect(error.line >= 1 && error.column >= 1, "seed \(seed), round \(round)")
          continue
        }
        let document = Array(mutant[line.upperBound...].utf8)
        guard let page = page(document, mappings) else { continue }
        #expect(page == self.page(document, mappings), "seed \(seed), round \(round)")
        #expect(page.items.allSatisfy { !$0.id.isEmpty }, "seed \(seed), round \(round)")
        pages += 1
      }
    }
    #expect(pages > 50, "most mutations leave something to read")
  }

  private func page(_ document: [UInt8], _ mappings: FeedMappings) -> FeedPage? {
    do throws(DocumentError) {
      return try withPadding(document) { bytes throws(DocumentError) in
        try FeedPage.parse(bytes, DocumentSource(), by: mappings)
      }
    } catch {
      return nil
    }
  }

  /// The seeds of the fuzzing target: a mapping, a line `---`, a document.
  private func inputs() throws -> [[UInt8]] {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder = package.appending(path: "Tools/fuzz/corpus/feed-mapping")
    return try ["words", "groups", "feed"].map {
      Array(try Data(contentsOf: folder.appending(path: $0)))
    }
  }

  private func mutated(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var text = text
    for _ in 0..<1 + Int(random.next() % 3) where !text.isEmpty {
      let place = Int(random.next() % UInt64(text.count))
      switch random.next() % 4 {
      case 0: text.remove(at: place)
      case 1: text[place] = UInt8(truncatingIfNeeded: random.next())
      case 2: text.insert(text[Int(random.next() % UInt64(text.count))], at: place)
      default:
        let end = min(text.count, place + Int(random.next() % 12))
        text.insert(contentsOf: text[place..<end], at: Int(random.next() % UInt64(text.count)))
      }
    }
    return text
  }
}
