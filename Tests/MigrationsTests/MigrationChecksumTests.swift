import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// A checksum stays what it is: stores keep it.
@Suite struct MigrationChecksumTests {
  private static let text = """
    line: a
    summary: s
    requires: [b@1]
    steps:
      - renameEntity: { name: E, to: F }
      - updateRows: { on: F, where: "a == 'x'", set: { b: 5, c: now } }
      - dropIndex: { on: F, name: i }
    down:
      - renameEntity: { name: F, to: E }
    """

  private static let respelled = """
    # why
    down:
    - renameEntity:
        to: "E"
        name: 'F'
    steps: [ { renameEntity: { to: F, "name": E } },   # first
      { updateRows: { set: { c: now, b: 5 }, on: F, where: a == 'x' } },
      { dropIndex: { name: i, on: F } } ]
    requires:
    - "b@1"
    summary: >-
      s
    line: a

    """

  @Test func spellingDoesNotCount() throws {
    let (one, two) = (try MigrationText.file(Self.text), try MigrationText.file(Self.respelled))
    #expect(one.checksum == two.checksum)
    #expect(one.stepChecksums == two.stepChecksums)
    #expect(one.downChecksums == two.downChecksums)
    let crlf = try MigrationText.file(Self.text.replacing("\n", with: "\r\n"))
    #expect(crlf.checksum == one.checksum)
  }

  @Test func aStepsChecksumCoversWhatCameBeforeIt() throws {
    let one = try MigrationText.file(Self.text)
    #expect(Set(one.stepChecksums + one.downChecksums + [one.checksum]).count == 5)
    let two = try MigrationText.file(Self.text.replacing("b: 5", with: "b: 6"))
    #expect(two.stepChecksums[0] == one.stepChecksums[0])
    #expect(two.stepChecksums[1] != one.stepChecksums[1])
    #expect(two.stepChecksums[2] != one.stepChecksums[2])
    #expect(two.downChecksums == one.downChecksums)
    #expect(two.checksum != one.checksum)
    // A file whose first steps are the same may go on where they end.
    let longer = try MigrationText.file(
      Self.text.replacing("down:", with: "  - dropTemplate: { name: t }\ndown:"))
    #expect(longer.stepChecksums.prefix(3) == one.stepChecksums[...])
  }

  /// Existing stores contain these checksums.
  @Test func theFilesOfTheProgramKeepTheirChecksums() throws {
    let system = try MigrationLine.load([.system]).flatMap(\.migrations)
    #expect(
      system.prefix(2).map(\.checksum) == [
        "c1:03764a74b459bee5b06e9f34a803afeb", "c1:981d27e4213582b44641c8759cb9364a",
      ])
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../..")
    for (path, checksum) in [
      ("Migrations/0001_home_feed", "c1:7be3d697e3bd6e06dbf2faaffe915b65"),
      ("Migrations/0002_learning_path_of_episode", "c1:1fdea410273e751e01b2b648a92df6c5"),
      ("Migrations/0003_episode_content", "c1:8241bdd800cac2f3b35e1b418e344237"),
      ("Migrations/0004_episodes_of_a_path", "c1:76cf04e9f727777f143084aff286c65d"),
      ("Sources/FeedSync/System/0001_feeds", "c1:0cf4a0aa1f9ed4b8a9a04441e7ae2236"),
      ("Sources/FeedSync/System/0002_feed_manners", "c1:15e9a5427e1c3f42502df5180238243b"),
      ("Sources/FeedSync/System/0003_feed_mappings", "c1:132654f15925525cf14d658f74f529f5"),
      ("Sources/FeedSync/System/0004_feed_addresses", "c1:38ee1bcb8f56b5e1d52c781e4554dd1f"),
      ("Sources/FeedSync/System/0005_feed_settings", "c1:2b53536e95c507770594dda488556438"),
      ("Sources/FeedSync/System/0006_feed_folders", "c1:68f5b93915b8d3df267d2b594921ed2c"),
    ] {
      let bytes = try Data(contentsOf: root.appendingPathComponent(path + ".yaml"))
      let name = URL(fileURLWithPath: path).lastPathComponent
      #expect(try MigrationFile.read(Array(bytes), name: name, file: path).checksum == checksum)
    }
  }
}
