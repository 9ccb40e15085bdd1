@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

/// One example of each rule, and of what is no finding.
enum LintCases {
  private typealias File = LintCase.File

  private static let book =
    "createEntity: { name: Book, attributes: [{ name: isbn, type: string }, "
    + "{ name: pages, type: int64, optional: true }] }"
  private static let shelf = "createEntity: { name: Shelf, attributes: [] }"
  private static let note = "addAttribute: { to: Book, name: note, type: string, optional: true }"
  private static let first = File.file("a", "0001_book", [book])
  private static let own = File.file("own", "0001_note", requires: "a@1", [note])

  private static func one(
    _ name: String, _ step: String, _ expected: [String], says: String? = nil
  ) -> LintCase {
    LintCase(name, applied: [first], [.file("a", "0002_x", [step])], expected, says: says)
  }

  static let files: [LintCase] = [
    LintCase("nothing is wrong", [first, own], []),
    LintCase(
      "a file cannot be read, and the others are looked at",
      [
        first, File(name: "0002_bad", text: "line: a\nsummary: s\nsteps: 5\n"),
        .file("a", "0003_c", [shelf]), File(name: "0004_bad", text: "\t"),
        .file("b", "0001_d", ["dropEntity: { name: Gone, destructive: true }"]),
      ],
      [
        "error unreadableFile 0002_bad", "error unreadableFile 0004_bad", "error misfit b 0001_d 1",
      ], says: "0002_bad.yaml:3:8"),
    LintCase(
      "the summary is empty", [.file("a", "0001_x", summary: " ", [shelf])],
      ["warning emptySummary a 0001_x"]),
    LintCase(
      "a draft was not filled in",
      [File(name: "0001_x", text: "line: a\nsummary: s\nsteps: []\n")],
      ["error noSteps a 0001_x"], says: "it has no steps yet"),
    LintCase(
      "a number is missing", [first, .file("a", "0004_x", [shelf])],
      ["error gap a 0004_x"], says: "0002 and others"),
    LintCase(
      "two follow one", [first, .file("a", "0002_x", [shelf]), .file("a", "0002_y", [note])],
      ["error sameNumber a 0002_y"], says: "both follow 0001_book"),
    LintCase(
      "two follow one, and the second is applied", applied: [first, .file("a", "0002_y", [note])],
      [.file("a", "0002_x", [shelf])], ["error sameNumber a 0002_x"],
      says: "0002_y has been applied here, so name 0002_x 0003_"),
    LintCase(
      "a file is there twice", [first, first], ["error sameNumber a 0001_book"],
      says: "the same file exists twice"),
  ]

  static let history: [LintCase] = [
    LintCase("nothing is pending", applied: [first, own], [], []),
    LintCase(
      "an applied file was changed", applied: [first], [.file("a", "0001_book", [shelf])],
      hidesApplied: true, ["error changedFile a 0001_book"]),
    LintCase(
      "a file was put before an applied one", applied: [first, .file("a", "0002_x", [shelf])],
      [first, .file("a", "0002_late", [note]), .file("a", "0003_x", [shelf])], hidesApplied: true,
      ["error displacedFile a 0002_late"], says: "has the number of 0002_x"),
    LintCase(
      "the store has had a later file", applied: [first, .file("a", "0002_x", [shelf])], [first],
      hidesApplied: true, ["error newerStore a 0002_x"], says: "a@2"),
  ]

  static let requirements: [LintCase] = [
    LintCase(
      "a version is not there", [first, .file("b", "0001_x", requires: "a@2", [shelf])],
      ["error missingRequirement b 0001_x"], says: "the line ends at a@1"),
    LintCase(
      "a line is not there", [.file("b", "0001_x", requires: "c@1", [shelf])],
      ["error missingRequirement b 0001_x"], says: "--migrations"),
    LintCase(
      "lines require each other",
      [
        .file("a", "0001_x", requires: "b@2", [shelf]), .file("b", "0001_y", [note]),
        .file("b", "0002_z", requires: "a@1", [note]),
        .file("c", "0001_w", requires: "a@1", [note]),
      ], ["error circularRequirement a 0001_x", "error misfit b 0001_y 1"], says: "a@1, b@2, a@1"),
    LintCase(
      "another line is used and not required",
      [
        first, .file("b", "0001_x", [note]),
        .file(
          "b", "0002_y", requires: "a@1",
          ["dropAttribute: { on: Book, name: note, destructive: true }"]),
      ],
      ["warning undeclaredRequirement b 0001_x 1", "warning destructive b 0002_y 1"],
      says: "requires: [a@1]"),
    LintCase(
      "a line is required by way of another",
      [
        first, own,
        .file(
          "c", "0001_x", requires: "own@1",
          ["dropAttribute: { on: Book, name: pages, destructive: true }"]),
      ],
      ["warning destructive c 0001_x 1"]),
  ]

  static let collisions: [LintCase] = [
    LintCase(
      "a release adds what an operator has", applied: [first, own],
      [.file("a", "0002_note", [note])],
      ["error collision a 0002_note 1"],
      says: "line own has in the store (0001_note)"),
    LintCase(
      "the operator's files are not here", applied: [first, own],
      [first, .file("a", "0002_note", [note])], hidesApplied: true,
      ["error collision a 0002_note 1"], says: "add a file to line own that renames it"),
    LintCase(
      "an operator adds what the release has", applied: [first],
      [own, .file("a", "0002_note", [note])],
      ["error collision own 0001_note 1"], says: "choose another name in 0001_note"),
    LintCase(
      "two lines make an index",
      applied: [
        first,
        .file(
          "own", "0001_i", requires: "a@1", ["createIndex: { on: Book, name: i, keys: [pages] }"]),
      ],
      [.file("a", "0002_i", ["createIndex: { on: Book, name: i, keys: [isbn] }"])],
      ["error collision a 0002_i 1"], says: "dropIndex: { on: Book, name: i }"),
    LintCase(
      "two lines make an entity", [.file("b", "0001_x", [shelf]), .file("c", "0001_y", [shelf])],
      ["error collision c 0001_y 1"], says: "line b creates before it (0001_x)"),
    LintCase(
      "the operator has renamed it",
      applied: [
        first, own,
        .file("own", "0002_x", ["renameAttribute: { on: Book, name: note, to: remark }"]),
      ],
      [.file("a", "0002_note", [note])], []),
  ]

  static let steps: [LintCase] = [
    one("a step does not fit", "dropIndex: { on: Book, name: none }", ["error misfit a 0002_x 1"]),
    LintCase(
      "what follows from a refused step is not said again",
      [
        .file(
          "a", "0001_x",
          [
            "renameEntity: { name: Gone, to: Here }",
            "addAttribute: { to: Here, name: x, type: bool, optional: true }",
            "dropTemplate: { name: t }",
          ])
      ],
      ["error misfit a 0001_x 1", "error misfit a 0001_x 3"]),
    LintCase(
      "a step breaks a template",
      applied: [
        .file(
          "a", "0001_x", [book, "createTemplate: { name: long, entity: Book, where: pages > 9 }"])
      ],
      [.file("a", "0002_y", ["dropAttribute: { on: Book, name: pages, destructive: true }"])],
      ["error brokenTemplate a 0002_y 1"], says: "long"),
    one(
      "an entity of the system is used",
      "createIndex: { on: _ChunkedWrite, name: i, keys: [rows] }",
      ["warning systemEntity a 0002_x 1"]),
    one(
      "code of another program", "runCode: { on: Book, name: c, revision: 1, changes: [pages] }",
      ["warning unregisteredCode a 0002_x 1"]),
    LintCase(
      "code that this program has not",
      [
        .file(
          "a", "0001_x", [book, "runCode: { on: Book, name: c, revision: 2, changes: [pages] }"])
      ],
      codes: [MigrationCode("c", revision: 1) { _ in }], ["error unregisteredCode a 0001_x 2"],
      says: "c 1"),
    LintCase(
      "code that it has",
      [
        .file(
          "a", "0001_x", [book, "runCode: { on: Book, name: c, revision: 1, changes: [pages] }"])
      ],
      codes: [MigrationCode("c", revision: 1) { _ in }], []),
  ]

  static let data: [LintCase] = [
    one(
      "a step loses data", "deleteRows: { on: Book, destructive: true }",
      ["warning destructive a 0002_x 1"], says: "all records of Book"),
    one(
      "a unique index", "createIndex: { on: Book, name: i, keys: [isbn], unique: true }",
      ["warning dataDependent a 0002_x 1"]),
    one(
      "a unique index that keeps one",
      "createIndex: { on: Book, name: i, keys: [isbn], unique: true, onViolation: quarantine }",
      []),
    LintCase(
      "a unique index of an entity without records",
      [
        .file(
          "a", "0001_x", [book, "createIndex: { on: Book, name: i, keys: [isbn], unique: true }"])
      ], []),
    LintCase(
      "a unique index on what nobody has", applied: [first],
      [
        .file(
          "a", "0002_x",
          [note, "createIndex: { on: Book, name: i, keys: [note], unique: true, sparse: true }"])
      ], []),
    one(
      "required without a value", "changeAttribute: { on: Book, name: pages, optional: false }",
      ["warning dataDependent a 0002_x 1"], says: "backfill"),
    one(
      "required with one",
      "changeAttribute: { on: Book, name: pages, optional: false, backfill: 1 }", []),
    one(
      "required with an expression",
      "changeAttribute: { on: Book, name: pages, optional: false, backfill: { expression: pages + 1 } }",
      ["warning dataDependent a 0002_x 1"], says: "null"),
    one(
      "tighter rules", "changeAttribute: { on: Book, name: isbn, maxLength: 9 }",
      ["warning dataDependent a 0002_x 1"]),
    one(
      "a conversion that may refuse", "retypeAttribute: { on: Book, name: isbn, type: int64 }",
      ["warning dataDependent a 0002_x 1"], says: "orElse"),
    one(
      "a conversion that refuses nothing",
      "retypeAttribute: { on: Book, name: pages, type: string }", []),
    one("an assertion", "assert: { on: Book, count: 0 }", ["warning dataDependent a 0002_x 1"]),
    one(
      "a link that all must have",
      "createRelationship: { on: Book, name: next, to: Book, optional: false }",
      ["warning dataDependent a 0002_x 1"], says: "has records"),
    one(
      "a derived value that may be null",
      "derive: { on: Book, name: half, type: int64, from: pages / 2 }",
      ["warning dataDependent a 0002_x 1"]),
    LintCase(
      "older programs write on", applied: [first],
      [
        .file(
          "a", "0002_x", older: "write",
          [note, shelf, "createIndex: { on: Book, name: i, keys: [pages] }"])
      ], []),
    LintCase(
      "older programs cannot", applied: [first],
      [
        .file(
          "a", "0002_x", older: "write",
          [
            note, "renameAttribute: { on: Book, name: pages, to: length }",
            "changeAttribute: { on: Book, name: isbn, optional: true }",
          ])
      ], ["error incompatible a 0002_x 2", "error incompatible a 0002_x 3"], says: "the old name"),
  ]

  static let down: [LintCase] = [
    LintCase(
      "it leads back", applied: [first],
      [.file("a", "0002_x", [shelf], down: ["dropEntity: { name: Shelf, destructive: true }"])],
      []),
    LintCase(
      "it leads elsewhere", applied: [first],
      [
        .file(
          "a", "0002_x", [shelf, note], down: ["dropEntity: { name: Shelf, destructive: true }"])
      ],
      ["warning differentDown a 0002_x"], says: "Book.note (string) is added"),
    LintCase(
      "it does not fit", applied: [first],
      [.file("a", "0002_x", [note], down: ["dropIndex: { on: Book, name: i }"])],
      ["warning misfitDown a 0002_x 1"]),
  ]
}
