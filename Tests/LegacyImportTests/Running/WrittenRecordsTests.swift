import Foundation
import TestSupport
import Testing

@testable import LegacyImport

@Suite struct WrittenRecordsTests {
  private func stored(_ counts: [WriteCounts]) throws -> String {
    String(decoding: try JSONEncoder().encode([WrittenRecords(counts)]), as: UTF8.self)
  }

  private func read(_ text: String) throws -> [WriteCounts] {
    try #require(try JSONDecoder().decode([WrittenRecords].self, from: Data(text.utf8)).first).all
  }

  @Test func theCountsAreTextWithoutZerosAtTheEnd() throws {
    let counts = [
      WriteCounts(new: 12), WriteCounts(),
      WriteCounts(new: 0, changed: 3, unchanged: 0, deleted: 4),
      WriteCounts(),
    ]
    #expect(try stored(counts) == #"["12;;0 3 0 4;"]"#)
    #expect(try read(stored(counts)) == counts)
  }

  @Test func randomCountsAreReadAsTheyWereStored() throws {
    let seed = testSeed(2_011)
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
      let counts = (0..<random.number(1...20)).map { _ in
        var numbers = [0, 0, 0, 0] as [Int64]
        for place in numbers.indices where random.oneIn(2) {
          numbers[place] = Int64(random.number(0...1_000_000_000))
        }
        return WriteCounts(
          new: numbers[0], changed: numbers[1], unchanged: numbers[2], deleted: numbers[3])
      }
      #expect(try read(stored(counts)) == counts, "seed \(seed)")
    }
  }

  @Test func theListOfAnEarlierVersionIsRead() throws {
    let counts = [WriteCounts(new: 5, changed: 0, unchanged: 7, deleted: 0), WriteCounts()]
    let list = String(decoding: try JSONEncoder().encode([counts]), as: UTF8.self)
    #expect(list.contains("unchanged"))
    #expect(try read(list) == counts)
  }

  @Test(arguments: ["x", "1 2 3 4 5", "-1", "123456789012345678901", "1,2"])
  func otherTextIsRefused(text: String) {
    #expect(throws: DecodingError.self) { try read("[\"\(text)\"]") }
  }
}
