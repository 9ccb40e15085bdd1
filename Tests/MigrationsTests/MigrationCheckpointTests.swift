import Foundation
import Testing

@testable import Migrations

/// A checkpoint is stored in the file, so a migration that an earlier version of the program has
/// left unfinished must be able to resume.
@Suite struct MigrationCheckpointTests {
  private static let runs = KeyRuns(
    owner: "step", runs: [KeyRun(number: 2, keys: 10, bytes: 400, checksum: -5)])

  private static let stages: [(MigrationCheckpoint.Stage, String)] = [
    (.records(last: 7), #"{"records":{"last":7}}"#),
    (.sorting(1), #"{"sorting":{"_0":1}}"#),
    (
      .appending(1, runs, last: Data([1])),
      #"{"appending":{"_0":1,"_1":{"owner":"step","runs":[{"bytes":400,"checksum":-5,"keys":10,"#
        + #""number":2}]},"last":"AQ=="}}"#
    ),
    (
      .appending(1, runs, last: nil),
      #"{"appending":{"_0":1,"_1":{"owner":"step","runs":[{"bytes":400,"checksum":-5,"keys":10,"#
        + #""number":2}]}}}"#
    ),
    (.catchingUp, #"{"settling":{}}"#),
  ]

  @Test(arguments: stages)
  func theStoredFormOfAStageDoesNotChange(
    _ stage: MigrationCheckpoint.Stage, _ stored: String
  ) throws {
    let text =
      #"{"done":3,"matches":2,"rounds":1,"stage":"# + stored + #","startedAt":12.5}"#
    let checkpoint = MigrationCheckpoint(
      stage: stage, startedAt: Date(timeIntervalSinceReferenceDate: 12.5), done: 3, matches: 2,
      rounds: 1)
    #expect(try encoded(checkpoint) == text)
    let read = try JSONDecoder().decode(MigrationCheckpoint.self, from: Data(text.utf8))
    #expect(try encoded(read) == text)
  }

  private func encoded(_ checkpoint: MigrationCheckpoint) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(checkpoint), as: UTF8.self)
  }
}
