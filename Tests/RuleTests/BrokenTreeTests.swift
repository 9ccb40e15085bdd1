import Testing

/// Each rule on small trees that break it, and on ones that look as if they did.
@Suite struct BrokenTreeTests {
  @Test func anImportThatIsNotInTheTableIsFound() {
    let tree = SourceTree([
      "Sources/LMDB/Cursor.swift": "import CMooringLMDB\nimport class EntityStore.Store\n",
      "Sources/Other/Other.swift": "import Foundation\n",
      "Tests/LMDBTests/CursorTests.swift": "import EntityStore\n",
    ])
    #expect(
      Rule.imports.violations(in: tree) == [
        "LMDB": ["Sources/LMDB/Cursor.swift:2: imports EntityStore"],
        "Other": ["Other has no row in ImportTable"],
      ])
  }

  @Test func foldersThatUseEachOtherAreACycle() {
    let tree = SourceTree([
      "Sources/M/A/One.swift": "struct One { let two: Two? }",
      "Sources/M/B/Two.swift": "struct Two { func one() { makeOne() } }",
      "Sources/M/A/Make.swift": "func makeOne() {}",
    ])
    let expected = "cycle of A B:\n    A → B: Two\n    B → A: makeOne"
    #expect(Rule.folderCycles.violations(in: tree) == ["M": [expected]])
  }

  @Test func filesNextToFoldersAreAFolderOfTheirOwn() {
    let tree = SourceTree([
      "Sources/M/Inner/Main.swift": "struct Main { let part: Part }",
      "Sources/M/Inner/Parts/Part.swift": "struct Part { var main: [Main] }",
    ])
    let expected =
      "cycle of Inner/. Inner/Parts:\n    Inner/. → Inner/Parts: Part"
      + "\n    Inner/Parts → Inner/.: Main"
    #expect(Rule.folderCycles.violations(in: tree) == ["M": [expected]])
  }

  @Test(arguments: [
    "public struct One { var two: Two? }",
    "private struct One { var two: Two? }; struct Uno {}",
    "struct Outer { struct One { var two: Two? } }",
    "struct Three { var two: Two? } // One",
    "extension Two { struct One {} }",
  ])
  func onlyNamesThatCanBeMeantAreUses(_ text: String) {
    let tree = SourceTree([
      "Sources/M/A/One.swift": text,
      "Sources/M/B/Two.swift": """
      // One is public.
      public struct Two<Uno> {
        let one: One, text = "One \\("One") /* One */", word: Uno
        func Outer() -> other.Outer { self.One }
      }
      """,
    ])
    #expect(Rule.folderCycles.violations(in: tree) == [:])
  }

  @Test(arguments: [
    "struct One { struct Part {}; var two: Two }",
    "struct One { var two: Two }; extension One { struct Part {} }",
  ])
  func nestedTypesAreFoundThroughTheOuterOne(_ text: String) {
    let tree = SourceTree([
      "Sources/M/A/One.swift": text,
      "Sources/M/B/Two.swift": #"struct Two { let text = "\(One.Part())" }"#,
    ])
    let expected = "cycle of A B:\n    A → B: Two\n    B → A: One, One.Part"
    #expect(Rule.folderCycles.violations(in: tree) == ["M": [expected]])
  }

  @Test func filesHaveABoundInBothDirections() {
    let tree = SourceTree([
      "Sources/M/Long.swift": String(repeating: "\n", count: 401),
      "Sources/M/Short.swift": String(repeating: "\n", count: 24),
      "Tests/MTests/ShortTests.swift": "\n",
    ])
    #expect(Rule.fileLength.violations(in: tree) == ["M": ["Sources/M/Long.swift: 401 lines"]])
    #expect(Rule.smallFiles.violations(in: tree) == ["M": ["Sources/M/Short.swift: 24 lines"]])
  }

  @Test func aLockThatTheThreadSanitizerDoesNotSeeIsFound() {
    let tree = SourceTree([
      "Sources/M/Lock.swift": "// Mutex\nlet state = Mutex(0)\nlet other = Locked(\"Mutex\")\n",
      "Tools/bench/Lock.swift": "let state = Mutex(0)\n",
    ])
    let expected =
      "Sources/M/Lock.swift:2: Mutex; Locked is the one that the thread sanitizer sees"
    #expect(Rule.locks.violations(in: tree) == ["M": [expected]])
  }

  @Test func columnsAreCharacters() {
    let umlauts = String(repeating: "ä", count: 100)
    let tree = SourceTree([
      "Tools/M/Lines.swift": "\(umlauts)\n\(umlauts)x",
      "Tests/MTests/Texts.swift": "\"\(umlauts)\"\n\"\"\"\n\(umlauts)x\n\"\"\"",
    ])
    #expect(Rule.columns.violations(in: tree) == ["M": ["Tools/M/Lines.swift:2: 101 columns"]])
  }

  @Test(arguments: [
    ("/// Of a store.", true), ("  /// Whether it is open.", true), ("/** By name. */", true),
    ("/// For what it is good.", true), ("/// For each entity.", false), ("// Of a store.", false),
    ("/// Offsets.\n/// By name.", false), ("\"/// Of\"", false), ("/// - Of", true),
  ])
  func docCommentsOpenWithAPhraseThatStandsByItself(_ text: String, isBroken: Bool) {
    let tree = SourceTree(["Sources/M/Comment.swift": text])
    #expect(Rule.docComments.violations(in: tree).isEmpty != isBroken)
  }

  @Test(arguments: [
    ("struct Rows {}", "`Rows`", true), ("var rowsKept = 0", "rows kept", true),
    ("let figuresByDay = 0", "figure", true), ("func a(_ anew: Int)", "anew", true),
    ("/// It goes\n/// over it.", "goes over", true), ("let rows = other.Rows()", "`Rows2`", false),
    ("call(anew: 1)", "anew", false), ("let text = \"anew\" // anew", "anew", false),
    ("case mended", "mend", true), ("let amendment = 0", "mend", false),
  ])
  func excludedTermsAreFound(_ text: String, term: String, isBroken: Bool) {
    let file = SourceFile(path: "Sources/M/File.swift", bytes: Array(text.utf8))
    #expect(ExcludedTerms([term]).uses(file).isEmpty != isBroken)
  }

  @Test func theGlossaryListsTheExcludedTerms() throws {
    let page = """
      # Glossary
      | Term | Meaning |
      |---|---|
      | record | one stored instance |

      ## Excluded terms
      | Instead of | Write |
      |---|---|
      | `KeptPlans(in:)`, kept plan, keepRows | PlanCache |
      | figure (a number, a count), `make` | metric |

      ## Other
      | record | |
      """
    let terms = try #require(ExcludedTerms(glossary: page))
    #expect(terms == ExcludedTerms(["`KeptPlans`", "`make`", "kept plan", "keepRows"]))
    #expect(terms.words.isSuperset(of: ["kept plan", "keep rows"]))
    #expect(ExcludedTerms(glossary: "# Glossary") == nil)
  }
}
