import Foundation
import TestSupport
import Testing

/// A Core Data store whose program gets a new model, with a mapping that a person has edited.
@Suite struct ImportUpdateTests {
  @Test func anEditedMappingFollowsTheModelOfTheProgram() throws {
    try withTemporaryFolder { folder in
      let library = OldLibrary(folder: folder)
      try writeModel(Self.first, to: folder.path("1.xcdatamodel"))
      try writeModel(Self.second, to: folder.path("2.xcdatamodel"))
      try library.sql(Self.firstFile)
      let migrations = ["--migration", library.migrations]
      let inspect = ["import", "inspect", library.file]
      try expectSuccess(
        library.tool(
          inspect + ["--mapping", library.mapping, "--model", folder.path("1.xcdatamodel")]
            + migrations))
      try edit(library.mapping) {
        $0.replacing(
          "      title: ZTITLE", with: "      # the name in the reader\n      title: ZTITLE"
        )
        .replacing("colour: ZCOLOUR", with: "colour: { column: ZCOLOUR, trim: true } # as typed")
        .replacing("      body: ZBODY", with: "      text: ZBODY")
      }
      try edit(library.migrations + "/0001_old_books.yaml") {
        $0.replacing("name: body,", with: "name: text,")
      }
      let up = ["migrate", "up", "--migrations", library.migrations]
      try expectSuccess(library.tool(up))
      try expectSuccess(library.take("run"))

      try FileManager.default.removeItem(atPath: library.file)
      try library.sql(Self.secondFile)
      let outdated = try library.take("plan")
      #expect(outdated.status == 78, "\(outdated.output)\(outdated.errors)")
      let new = folder.path("new.yaml")
      let model = ["--model", folder.path("2.xcdatamodel")]
      let update = try library.tool(
        inspect + ["--update", library.mapping, "--mapping", new] + migrations + model)
      try expectSuccess(update)
      #expect(update.output.contains("Channel comes from the table ZFEED now, before ZCHANNEL"))
      #expect(update.output.contains("Channel.colour is read from ZTINT now, before ZCOLOUR"))
      #expect(update.output.contains("warning: Channel.size is no longer imported"))
      let text = try String(contentsOfFile: new, encoding: .utf8)
      for expected in [
        "  - entity: Channel\n    table: ZFEED\n    formerTable: ZCHANNEL\n",
        "where: { Z_ENT: [3] }",
        "      # the name in the reader\n      title: ZTITLE",
        "      # as typed\n      colour: { column: ZTINT, trim: true }", "text: ZBODY",
        "      homepage: ZHOMEPAGE", "channel: { column: ZFEED, table: ZFEED }",
        "labels: { join: Z_2LABELS, owner: Z_2ENTRIES, target: Z_4LABELS, table: ZLABEL }",
        "author: { column: ZAUTHOR, table: ZAUTHOR }",
      ] { #expect(text.contains(expected), "\(expected) is not in \(text)") }
      #expect(!text.contains("  size:") && !text.contains("  body:"), "\(text)")

      try expectSuccess(library.tool(up))
      let run = try library.tool(["import", "run", library.file, "--mapping", new])
      try expectSuccess(run)
      #expect(try library.count("Channel") == "2\n" && library.count("Entry") == "3\n")
      #expect(try library.count("Author") == "1\n")
      let colours = try mooring("fetch", "Channel", "--select", "colour", store: library.store)
      #expect(colours.output.contains("red") && colours.output.contains("blue"))
      #expect(run.output.contains(#/Entry\.channel +3 +3 /#), "\(run.output)")
      #expect(run.output.contains(#/Entry\.labels +2 +2 /#), "\(run.output)")

      // Nothing is left to do.
      let again = folder.path("again.yaml")
      let second = try library.tool(
        inspect + ["--update", new, "--mapping", again] + migrations + model)
      try expectSuccess(second)
      #expect(try String(contentsOfFile: again, encoding: .utf8) == text)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: library.migrations).sorted()
          == ["0001_old_books.yaml", "0002_old_books_update.yaml"])
      // The rows of the table with a new name have not vanished.
      try expectSuccess(
        library.tool(["import", "run", library.file, "--mapping", new, "--prune"]))
      #expect(try library.count("Channel") == "2\n")
      let check = try mooring("check", store: library.store)
      #expect(check.status == 0, "\(check.output)\(check.errors)")
    }
  }

  @Test func anUpdateKeepsTheNameOfItsMapping() throws {
    try withOldLibrary { library in
      expectFailure(
        try library.tool([
          "import", "inspect", library.file, "--update", library.mapping, "--name", "other",
        ]), 64, "--update keeps the name")
      let missing = library.folder.path("none.yaml")
      expectFailure(
        try library.tool(["import", "inspect", library.file, "--update", missing]), 69, missing)
    }
  }

  // MARK: Files

  private func expectSuccess(
    _ run: ToolRun, _ location: SourceLocation = #_sourceLocation
  ) throws {
    try #require(run.status == 0, "\(run.output)\(run.errors)", sourceLocation: location)
  }

  private func edit(_ path: String, _ change: (String) -> String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let edited = change(text)
    try #require(edited != text, "\(text)")
    try Data(edited.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func writeModel(_ entities: String, to folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("<model>\(entities)</model>".utf8)
      .write(to: URL(fileURLWithPath: folder + "/contents"))
  }

  private static let first = """
    <entity name="Channel">
      <attribute name="colour" optional="YES" attributeType="String"/>
      <attribute name="size" optional="YES" attributeType="Integer 64"/>
      <attribute name="title" attributeType="String"/>
      <relationship name="entries" toMany="YES" deletionRule="Cascade" destinationEntity="Entry"
        inverseName="channel" inverseEntity="Entry"/>
    </entity>
    <entity name="Entry">
      <attribute name="body" optional="YES" attributeType="String"/>
      <attribute name="guid" attributeType="String"/>
      <relationship name="channel" optional="YES" maxCount="1" destinationEntity="Channel"
        inverseName="entries" inverseEntity="Channel"/>
      <relationship name="labels" optional="YES" toMany="YES" destinationEntity="Label"
        inverseName="entries" inverseEntity="Label"/>
    </entity>
    <entity name="Label">
      <attribute name="name" attributeType="String"/>
      <relationship name="entries" optional="YES" toMany="YES" destinationEntity="Entry"
        inverseName="labels" inverseEntity="Entry"/>
    </entity>
    """

  private static let firstFile = """
    CREATE TABLE ZCHANNEL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSIZE INTEGER,
      ZCOLOUR VARCHAR, ZTITLE VARCHAR);
    CREATE TABLE ZENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANNEL INTEGER,
      ZBODY VARCHAR, ZGUID VARCHAR);
    CREATE TABLE ZLABEL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE Z_2LABELS (Z_2ENTRIES INTEGER, Z_3LABELS INTEGER,
      PRIMARY KEY (Z_2ENTRIES, Z_3LABELS));
    INSERT INTO ZCHANNEL VALUES (1, 1, 1, 7, ' red', 'A'), (2, 1, 1, NULL, NULL, 'B');
    INSERT INTO ZENTRY VALUES (1, 2, 1, 1, 'text', 'g1'), (2, 2, 1, 2, NULL, 'g2');
    INSERT INTO ZLABEL VALUES (1, 3, 1, 'swift');
    INSERT INTO Z_2LABELS VALUES (1, 1);
    \(system(["Channel", "Entry", "Label"]))
    """

  private static let second = """
    <entity name="Author">
      <attribute name="name" attributeType="String"/>
      <relationship name="entries" optional="YES" toMany="YES" destinationEntity="Entry"
        inverseName="author" inverseEntity="Entry"/>
    </entity>
    <entity name="Entry">
      <attribute name="body" optional="YES" attributeType="String"/>
      <attribute name="guid" attributeType="String"/>
      <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author"
        inverseName="entries" inverseEntity="Author"/>
      <relationship name="feed" optional="YES" maxCount="1" destinationEntity="Feed"
        inverseName="entries" inverseEntity="Feed" elementID="channel"/>
      <relationship name="labels" optional="YES" toMany="YES" destinationEntity="Label"
        inverseName="entries" inverseEntity="Label"/>
    </entity>
    <entity name="Feed" elementID="Channel">
      <attribute name="homepage" optional="YES" attributeType="String"/>
      <attribute name="tint" optional="YES" attributeType="String" elementID="colour"/>
      <attribute name="title" attributeType="String"/>
      <relationship name="entries" toMany="YES" deletionRule="Cascade" destinationEntity="Entry"
        inverseName="feed" inverseEntity="Entry"/>
    </entity>
    <entity name="Label">
      <attribute name="name" attributeType="String"/>
      <relationship name="entries" optional="YES" toMany="YES" destinationEntity="Entry"
        inverseName="labels" inverseEntity="Entry"/>
    </entity>
    """

  private static let secondFile = """
    CREATE TABLE ZAUTHOR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE ZFEED (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZHOMEPAGE VARCHAR, ZTINT VARCHAR, ZTITLE VARCHAR);
    CREATE TABLE ZENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHOR INTEGER,
      ZFEED INTEGER, ZBODY VARCHAR, ZGUID VARCHAR);
    CREATE TABLE ZLABEL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
    CREATE TABLE Z_2LABELS (Z_2ENTRIES INTEGER, Z_4LABELS INTEGER,
      PRIMARY KEY (Z_2ENTRIES, Z_4LABELS));
    INSERT INTO ZAUTHOR VALUES (1, 1, 1, 'Ann');
    INSERT INTO ZFEED VALUES (1, 3, 1, 'https://a.example', ' red', 'A'),
      (2, 3, 1, NULL, 'blue', 'B');
    INSERT INTO ZENTRY VALUES (1, 2, 1, 1, 1, 'text', 'g1'), (2, 2, 1, NULL, 2, NULL, 'g2'),
      (3, 2, 1, 1, 2, NULL, 'g3');
    INSERT INTO ZLABEL VALUES (1, 4, 1, 'swift');
    INSERT INTO Z_2LABELS VALUES (1, 1), (3, 1);
    \(system(["Author", "Entry", "Feed", "Label"]))
    """

  private static func system(_ entities: [String]) -> String {
    let rows = entities.enumerated().map { "(\($0 + 1), '\($1)', 0, 9)" }
    return """
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER,
        Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES \(rows.joined(separator: ", "));
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      INSERT INTO Z_METADATA VALUES (1, 'uuid', NULL);
      """
  }
}
