import Foundation
import LMDB
import TestSupport
import Testing

/// The errors of `mooring fetch` for invalid requests: the status, one line, and the place.
@Suite struct FetchUsageTests {
  // MARK: Predicates

  private func expectPlace(
    _ arguments: [String], _ errors: String, store: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let run = try run("mooring", ["fetch", "Episode"] + arguments, store: store)
    #expect(run.status == 64 && run.output.isEmpty, sourceLocation: sourceLocation)
    #expect(run.errors == errors, sourceLocation: sourceLocation)
  }

  @Test func aMistakeInAPredicateIsShownAtItsPlace() throws {
    try withSampleStore { store in
      try expectPlace(
        ["--where", "duration >> 5"],
        """
        mooring: --where: expected a value, found ">"
        duration >> 5
                  ^

        """, store: store)
      try expectPlace(
        ["--where", "title == '題名' duration"],
        """
        mooring: --where: expected an operator, AND, OR or the end, found "duration"
        title == '題名' duration
                        ^

        """, store: store)
      try expectPlace(
        ["--where", "title == %@"],
        """
        mooring: --where: a command line has no arguments for %; write the value itself, or $NAME \
        and --variable NAME=VALUE
        title == %@
                 ^

        """, store: store)
      try expectPlace(
        ["--where", "progress > DOUBLE \"NaN\""],
        """
        mooring: --where: NaN has no place in a predicate
        progress > DOUBLE "NaN"
                          ^

        """, store: store)
      try expectPlace(
        ["--group-by", "type", "--having", "count(*) >"],
        """
        mooring: --having: expected a value, found the end
        count(*) >
                  ^

        """, store: store)
      try expectPlace(
        ["--select", "id,a=duration/"],
        """
        mooring: --select: expected a value, found the end
        duration/
                 ^

        """, store: store)
    }
  }

  @Test func unknownNamesAreShownAtTheirPlace() throws {
    try withSampleStore { store in
      try expectPlace(
        ["--where", "duration > 5 AND titel == 'titel'"],
        """
        mooring: --where: no such attribute (entity: Episode, attribute: titel); did you mean \
        "title"?
        duration > 5 AND titel == 'titel'
                         ^

        """, store: store)
      try expectPlace(
        ["--where", "progress > 0 AND duration == \"long\""],
        """
        mooring: --where: values of different types are compared (expression: duration, \
        type: int64, value: long, its type: string); write a value of that type
        progress > 0 AND duration == "long"
                         ^

        """, store: store)
      // At two places it is not plain which one is meant.
      expectFailure(
        try mooring("fetch", "Episode", "--where", "titel == 'a' OR titel == 'b'", store: store),
        64, "mooring: no such attribute", "did you mean \"title\"?")
      // The name is in the predicate, but what is wrong is the column.
      expectFailure(
        try mooring(
          "fetch", "Episode", "--where", "title != nil", "--select", "x=title/2", store: store),
        64, "mooring: arithmetic is for numbers", "title / 2")
      let having = try mooring(
        "fetch", "Episode", "--group-by", "type", "--having", "duration > 5", store: store)
      #expect(having.status == 64 && having.errors.hasSuffix("\nduration > 5\n^\n"))
    }
  }

  @Test func depthIsBounded() throws {
    try withSampleStore { store in
      let parentheses = String(repeating: "(", count: 10_000)
      let deep = try mooring(
        "fetch", "Episode", "--where", parentheses + "duration > 5", store: store)
      #expect(deep.status == 64 && deep.messages.count == 3)
      #expect(deep.messages[0].contains("nested deeper than 200 levels"))
      #expect(deep.messages[1].count <= 76 && deep.messages[2].hasSuffix("^"))
      let closed =
        String(repeating: "(", count: 100) + "duration > 300" + String(repeating: ")", count: 100)
      let run = try mooring("fetch", "Episode", "--where", closed, "--count", store: store)
      #expect(run.output == "2\n")
    }
  }

  @Test func messagesWithQuotationsAreBounded() throws {
    try withSampleStore { store in
      let name = String(repeating: "a", count: 100_000)
      let run = try mooring("fetch", "Episode", "--where", name + " == 5", store: store)
      #expect(run.status == 64 && run.errors.utf8.count < 5_000)
    }
  }

  // MARK: Names

  @Test func unknownNamesAreRefusedInOneLine() throws {
    let cases: [([String], [String])] = [
      (["Episod"], ["Episod", "did you mean \"Episode\"?"]),
      (["Nope"], ["Nope", "Episode, LearningPath"]),
      (["Episode", "--sort", "updatdAt"], ["updatdAt", "did you mean \"updatedAt\"?"]),
      (["Episode", "--select", "nope"], ["nope", "it has id, title, summary"]),
      (["Episode", "--group-by", "nope"], ["nope", "it has id, title, summary"]),
      (["Episode", "--aggregate", "sum:nope"], ["nope", "it has id, title, summary"]),
      (["Episode", "--aggregate", "sum:title"], ["only numbers", "sum(title)"]),
      (["Episode", "--sort", "duration:localized"], ["a collation is for texts"]),
      (["Episode", "--select", "title.x"], ["title.x", "not a relationship"]),
      (["--template", "nope"], ["no such request template", "nope", "the store has none"]),
      (["Episode", "--select", "title,title"], ["two columns have the same name"]),
    ]
    try withSampleStore { store in
      for (arguments, parts) in cases {
        let run = try run("mooring", ["fetch"] + arguments, store: store)
        expectFailure(run, 64)
        for part in parts { #expect(run.errors.contains(part), "\(arguments): \(run.errors)") }
        #expect(run.output.isEmpty)
      }
    }
  }

  // MARK: Options

  @Test func errorsOfConflictingOptionsGiveAdvice() throws {
    let cases: [([String], String)] = [
      ([], "name the entity: mooring fetch Episode"),
      (["E", "--limit", "-1"], "--limit cannot be negative"),
      (["E", "--offset", "-1"], "--offset cannot be negative"),
      (["E", "--count", "--ids"], "--count and --ids print different things; leave one out"),
      (
        ["E", "--ids", "--select", "a"],
        "--ids prints identities and no columns; use --select _id,…"
      ),
      (
        ["E", "--having", "n > 1"],
        "--having chooses groups, and needs --group-by; for records use --where"
      ),
      (
        ["E", "--count", "--select", "a"],
        "--count reads no columns; leave out --select, or add --distinct"
      ),
      (
        ["E", "--count", "--aggregate", "sum:a"],
        "an aggregate without --group-by has one row; leave out --count, or write "
          + "--aggregate count:*"
      ),
      (["E", "--distinct"], "records are always distinct; use --distinct with --select"),
      (
        ["E", "--distinct", "--group-by", "a", "--select", "a"],
        "groups are distinct already; leave out --distinct"
      ),
      (
        ["E", "--where", "-", "--group-by", "a", "--having", "-"],
        "standard input can be read only once; put one predicate into a file"
      ),
      (
        ["E", "--explain", "--format", "csv"],
        "the format csv does not fit here; use table or json"
      ),
    ]
    for (arguments, message) in cases {
      let run = try run("mooring", ["fetch"] + arguments, store: "/nonexistent")
      expectFailure(run, 64)
      #expect(run.messages.first == "mooring: " + message)
    }
  }

  @Test func malformedOptionsAreRefusedBeforeTheStoreIsOpened() throws {
    let cases: [([String], String)] = [
      (["--sort", "title:up"], "\"up\" in \"title:up\" is no order; write asc or desc"),
      (["--sort", "title:asc:desc"], "\"desc\" in"), (["--sort", ":desc"], "has no path"),
      (["--sort", "title,"], "a part of \"title,\" is empty"),
      (["--select", ",id"], "a part of \",id\" is empty"),
      (["--select", "=id"], "has no name before ="),
      (["--aggregate", "duration"], "is no aggregate; write name=function:path"),
      (["--aggregate", "median:duration"], "there is no function \"median\"; use sum, average"),
      (["--aggregate", "sum:*"], "only count takes *"),
      (["--variable", "x"], "\"x\" gives no value; write --variable NAME=VALUE"),
      (["--variable", "x=1", "--variable", "x=2"], "the variable x is given twice"),
    ]
    for (arguments, part) in cases {
      expectFailure(
        try run("mooring", ["fetch", "E"] + arguments, store: "/nonexistent"), 64, part)
    }
  }

  @Test func variablesMustBeGivenAndUsed() throws {
    try withSampleStore { store in
      func fetch(_ arguments: String...) throws -> ToolRun {
        try run("mooring", ["fetch", "Episode"] + arguments, store: store)
      }
      expectFailure(
        try fetch("--where", "duration > $least"), 64,
        "$least has no value; add --variable least=VALUE")
      expectFailure(
        try fetch("--where", "duration > $least", "--variable", "lest=1"), 64,
        "nothing asks for $lest; the variables are $least")
      expectFailure(try fetch("--variable", "x=1"), 64, "nothing asks for $x; leave it out")
      let quoted = try fetch("--where", "title == $x", "--variable", "x=\"open")
      #expect(quoted.status == 64 && quoted.errors.hasPrefix("mooring: --variable: "))
      #expect(quoted.errors.contains("\n\"open\n"))
    }
  }

  // MARK: Stores

  @Test func aDamagedRecordEndsTheFetchWithItsNumber() throws {
    try withSampleStore { store in
      do {
        let environment = try Environment.open(at: store)
        try environment.write { transaction in
          let tree = try #require(try environment.tree(named: "r.12", in: transaction))
          var cursor = try transaction.cursor(tree)
          _ = try cursor.first()
          let second = try #require(try cursor.next())
          let key = Array(second.key)
          try transaction.put(tree, key: key, value: [0xFF, 0xFF, 0xFF])
        }
      }
      expectFailure(
        try mooring("fetch", "Episode", store: store), 65, "unreadable", "Episode", "mooring check")
      // Rows are printed as they are found: those before it are there.
      let lines = try mooring(
        "fetch", "Episode", "--select", "_id", "--format", "jsonl", store: store)
      #expect(lines.status == 65 && lines.output == "{\"_id\":1}\n")
      let sorted = try mooring(
        "fetch", "Episode", "--select", "_id", "--sort", "duration", "--format", "json",
        store: store)
      #expect(sorted.status == 65 && sorted.output.isEmpty)
      // What needs no record is answered all the same.
      #expect(try mooring("fetch", "Episode", "--count", store: store).output == "5\n")
    }
  }
}
