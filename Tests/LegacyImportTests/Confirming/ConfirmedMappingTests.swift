import EntityModel
import EntityStore
import LegacyImport
import Migrations
import TestSupport
import Testing

/// A proposal of which a person has edited both files: comments, spacing, brackets, other names.
struct EditedProposal {
  static let mapping = """
    # taken over in autumn
    import: made
    dialect: plain
    entities:
      - entity: User
        table: user
        key: [id]
        attributes: { id: id, name: name, isBlocked: { column: blocked, unconfirmed: "bool gives" } }

      - entity: BlockedUser
        table: blocked_user
        key: [id]
        attributes: { id: id }

      # the posts
      - entity: Post
        table: post
        key: [id]
        attributes:
          id: id
          # INTEGER: 3 integers
          authorKey: author   # kept for now
          headline: { column: title, trim: true } # was title
          # three whole numbers
          updated:
            column: updated
            nullValues: [0]
            date: coreDataSeconds
            unconfirmed: "whole: coreDataSeconds gives 2005; int64 gives 132464128"
          created: { column: created, date: unixSeconds, unconfirmed: "the numbers fit two" }
        relationships:
          # by its name
          author: { column: author, table: user, orphan: drop, unconfirmed: "guessed" }

    skip:
      columns: { post: [rest] } # not needed

    """

  static let migration = """
    line: made
    summary: What made is imported to   # mine
    steps:
      - createEntity:
          name: User
          attributes: [{ name: id, type: int64 }, { name: name, type: string, optional: true }, { name: isBlocked, type: bool, optional: true }]
      - createEntity: { name: BlockedUser, attributes: [{ name: id, type: int64 }] }
      - createEntity:
          name: Post
          attributes:
            - { name: id, type: int64 }
            # the key of the author
            - { name: authorKey, type: int64, optional: true }
            - name: headline
              type: string
              optional: true
            - { name: updated, type: date, optional: true }  # when?
            - { name: created, type: date, optional: true }
            - { name: mood, type: string, default: calm }
      - createIndex: { on: Post, name: byUpdated, keys: [updated] }
      # who wrote it
      - createRelationship: { on: Post, name: author, to: User, inverse: { name: posts } }

    """

  let confirmed: ConfirmedMapping
  let migration: String
  let left: [ReadingChange]

  /// Makes the choices, and requires that both files fit each other then.
  init(_ choices: String..., includesOthers: Bool = false) throws {
    confirmed = try Self.confirmed(choices, includesOthers: includesOthers)
    (migration, left) = try MigrationEdits.text(
      of: Self.migration, file: "0001_made.yaml", after: confirmed.changes)
    let schema = try MappedSchema.schema(migration, line: "made")
    try confirmed.check(against: schema, file: "map.yaml")
  }

  static func confirmed(_ choices: [String], includesOthers: Bool = false) throws
    -> ConfirmedMapping
  {
    try ConfirmedMapping(
      of: mapping, file: "map.yaml", schema: try MappedSchema.schema(migration, line: "made"),
      try choices.map { try #require(MarkChoice($0)) }, includesOthers: includesOthers)
  }
}

@Suite struct ConfirmedMappingTests {
  @Test func aConfirmedAttributeLosesItsMarkAndNothingElseChanges() throws {
    let edited = try EditedProposal("Post.created")
    #expect(
      edited.confirmed.mapping
        == EditedProposal.mapping.replacing(
          ", unconfirmed: \"the numbers fit two\" }", with: " }"))
    #expect(edited.migration == EditedProposal.migration)
    #expect(edited.confirmed.changes.isEmpty && edited.left.isEmpty)
    #expect(edited.confirmed.remaining.count == 3)
  }

  @Test func aNumberReplacesADateInBothFiles() throws {
    let edited = try EditedProposal("Post.updated=int64")
    let entry =
      "\n        column: updated\n        nullValues: [0]\n        date: coreDataSeconds\n"
      + "        unconfirmed: \"whole: coreDataSeconds gives 2005; int64 gives 132464128\"\n"
    #expect(
      edited.confirmed.mapping
        == EditedProposal.mapping.replacing("updated:\(entry)", with: "updated: updated\n"))
    #expect(
      edited.migration
        == EditedProposal.migration.replacing("updated, type: date", with: "updated, type: int64"))
  }

  @Test func anotherFormOfDatesKeepsTheValuesThatAreNone() throws {
    let edited = try EditedProposal("Post.updated=unixMilliseconds")
    #expect(
      edited.confirmed.mapping.contains(
        "\n      updated: { column: updated, nullValues: [0], date: unixMilliseconds }\n"))
    #expect(edited.migration == EditedProposal.migration)
  }

  @Test func anEntryInBracketsStaysInThem() throws {
    let edited = try EditedProposal("User.isBlocked=int64")
    #expect(
      edited.confirmed.mapping
        == EditedProposal.mapping.replacing(
          "{ column: blocked, unconfirmed: \"bool gives\" }", with: "blocked"))
    #expect(
      edited.migration
        == EditedProposal.migration.replacing("type: bool", with: "type: int64"))
  }

  @Test func aConfirmedRelationshipReplacesItsPlainColumn() throws {
    let edited = try EditedProposal("Post.author")
    #expect(
      edited.confirmed.mapping
        == EditedProposal.mapping
        .replacing(
          "      # INTEGER: 3 integers\n      authorKey: author   # kept for now\n", with: ""
        )
        .replacing(", unconfirmed: \"guessed\"", with: ""))
    #expect(
      edited.migration
        == EditedProposal.migration.replacing(
          """
                  # the key of the author
                  - { name: authorKey, type: int64, optional: true }

          """, with: ""))
    #expect(edited.confirmed.changes.count == 1)
  }

  @Test func anotherTableIsTheOtherEndInBothFiles() throws {
    let edited = try EditedProposal("Post.author=blocked_user")
    #expect(
      edited.confirmed.mapping.contains(
        "author: { column: author, table: blocked_user, orphan: drop }\n"))
    #expect(edited.migration.contains("name: author, to: BlockedUser, inverse: { name: posts } }"))
    #expect(!edited.migration.contains("authorKey"))
  }

  @Test func withoutARelationshipThePlainColumnStays() throws {
    let edited = try EditedProposal("Post.author=none")
    #expect(edited.confirmed.mapping.contains("authorKey: author   # kept for now"))
    // It was the only one.
    #expect(!edited.confirmed.mapping.contains("relationships"))
    #expect(
      edited.confirmed.mapping.hasSuffix("\n\nskip:\n  columns: { post: [rest] } # not needed\n"))
    #expect(
      edited.migration
        == EditedProposal.migration.replacing(
          """
            # who wrote it
            - createRelationship: { on: Post, name: author, to: User, inverse: { name: posts } }

          """, with: ""))
  }

  @Test(arguments: ["drop", "reject"])
  func orphansAreTreatedAsChosen(orphan: String) throws {
    let edited = try EditedProposal("Post.author=\(orphan)")
    let text = orphan == "drop" ? ", orphan: drop }" : " }"
    #expect(
      edited.confirmed.mapping.contains("author: { column: author, table: user\(text)\n"))
  }

  @Test func severalGuessesAreCorrectedAtOnceAndTheRestConfirmed() throws {
    let edited = try EditedProposal(
      "Post.updated=int64", "Post.author=none", "User.isBlocked=int64", includesOthers: true)
    #expect(edited.confirmed.remaining.isEmpty)
    #expect(
      Set(edited.confirmed.names)
        == ["Post.updated", "Post.author", "User.isBlocked", "Post.created"])
    #expect(!edited.confirmed.mapping.contains("unconfirmed"))
    #expect(edited.confirmed.mapping.contains("headline: { column: title, trim: true } # was"))
    #expect(edited.left.isEmpty)
  }

  @Test func carriageReturnsAreKept() throws {
    let confirmed = try ConfirmedMapping(
      of: EditedProposal.mapping.replacing("\n", with: "\r\n"), file: "map.yaml",
      schema: try MappedSchema.schema(EditedProposal.migration, line: "made"),
      [try #require(MarkChoice("Post.author"))])
    let expected = try EditedProposal("Post.author").confirmed.mapping
    #expect(confirmed.mapping == expected.replacing("\n", with: "\r\n"))
  }

  @Test(arguments: [
    ("Post.headline", "no guess of this name"), ("Post.autor", "did you mean \"Post.author\"?"),
    ("Post.updated=int46", "did you mean \"int64\"?"),
    ("Post.author=usr", "did you mean \"user\"?"),
    ("Post.created=date", "no reading of an attribute"),
  ])
  func aMistakeChangesNothing(choice: String, message: String) throws {
    let error = try #require(throws: ImportError.self) {
      try EditedProposal.confirmed([choice])
    }
    #expect(error.description.contains(message), "\(error)")
  }

  @Test func aChoiceThatOnlyOneFileCouldFollowIsLeft() throws {
    let confirmed = try EditedProposal.confirmed(["Post.updated=int64", "Post.author"])
    let other = try MigrationEdits.text(
      of: "line: other\nsummary: Another\nsteps: []\n", file: "0001_other.yaml",
      after: confirmed.changes)
    #expect(Set(other.left) == Set(confirmed.changes) && other.left.count == 2)
  }

  @Test func theProposalOfAnInspectionCanBeConfirmedEachWay() throws {
    let sql = """
      CREATE TABLE blocked_user (id INTEGER PRIMARY KEY, reason TEXT);
      CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT, played INTEGER);
      CREATE TABLE post (id INTEGER PRIMARY KEY, user_id INTEGER, updated INTEGER);
      INSERT INTO blocked_user VALUES (1, 'spam'), (2, 'abuse');
      INSERT INTO user VALUES (1, 'Ann', 0), (2, 'Bob', 1);
      INSERT INTO post VALUES (1, 2, 132464128), (2, 1, 132471424);
      """
    try MadeDatabase.with(sql) { database in
      let proposal = try PlainInspection.suggestedImport(of: database, name: "made")
      let mapping = MappingFile.text(of: proposal.mapping)
      for choice in [
        "Post.user", "Post.user=blocked_user", "Post.user=none", "Post.updated",
        "Post.updated=int64", "Post.updated=unixSeconds", "User.played", "User.played=int64",
      ] {
        let schema = try MappedSchema.schema(proposal.migrationText, line: "made")
        let confirmed = try ConfirmedMapping(
          of: mapping, file: "map.yaml", schema: schema, [try #require(MarkChoice(choice))],
          includesOthers: true)
        let migration = try MigrationEdits.text(
          of: proposal.migrationText, file: "0001_made.yaml", after: confirmed.changes)
        #expect(migration.left.isEmpty)
        let after = try MappedSchema.schema(migration.text, line: "made")
        let read = try MappingFile.read(Array(confirmed.mapping.utf8), file: "m", schema: after)
        #expect(MappingCheck(of: read, against: database.tables).problems.isEmpty, "\(choice)")
        #expect(confirmed.remaining.isEmpty)
      }
    }
  }
}
