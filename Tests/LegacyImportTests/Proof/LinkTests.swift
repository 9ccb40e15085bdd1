import EntityModel
import EntityStore
import LegacyImport
import TestSupport
import Testing

/// Links of every shape, in plans and in runs.
struct LinkTests {
  private static let node = """
    - createEntity:
        name: Node
        attributes: [{ name: name, type: string, optional: true, owner: local }]

    """

  private static func mapping(_ relationships: String) -> String {
    """
    entities:
      - entity: Node
        table: node
        key: [id]
        attributes: { name: name }
        relationships:
    \(relationships.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n"))
    """
  }

  @Test func rowsMayLeadToThemselvesAndInCircles() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: parent, to: Node, inverse: { name: children, many: true } }",
      mapping: Self.mapping("parent: { column: parent, table: node }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name, parent);
      INSERT INTO node VALUES (1, 'a', 1), (2, 'b', 3), (3, 'c', 2), (4, 'd', 5), (5, 'e', NULL);
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejected == 0)
      #expect(try made.links("Node", "parent") == ["a: a", "b: c", "c: b", "d: e"])
      #expect(try made.links("Node", "children") == ["a: a", "b: c", "c: b", "e: d"])
    }
  }

  @Test func theFirstOfTwoRowsThatClaimARecordGetsIt() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: next, to: Node, inverse: { name: before, many: false } }",
      mapping: Self.mapping("next: { column: next, table: node }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name, next);
      INSERT INTO node VALUES (1, 'a', NULL), (2, 'b', 4), (3, 'c', 4), (4, 'd', 5), (5, 'e', NULL);
      """
    ) { made in
      for _ in 1...2 {
        let report = try made.planAndRun()
        #expect(report.rejects == ["link_taken": 1])
        #expect(report.relationships[0].rejected == 1 && report.relationships[0].linked == 2)
        #expect(try made.links("Node", "next") == ["b: d", "d: e"])
      }
      #expect(try made.described(made.rejects()) == ["node 3 next link_taken"])
      // An earlier row claims it, and takes it from the one that had it.
      try made.change("UPDATE node SET next = 4 WHERE id = 1")
      #expect(try made.planAndRun().rejects == ["link_taken": 2])
      #expect(try made.links("Node", "next") == ["a: d", "d: e"])
      // It is free again, and the others have not changed.
      try made.change("UPDATE node SET next = NULL WHERE id = 1")
      let last = try made.planAndRun()
      #expect(last.rejects == ["link_taken": 1] && last.relationships[0].edited == 0)
      #expect(try made.links("Node", "next") == ["b: d", "d: e"])
    }
  }

  @Test func aRecordWithOneOwnerIsInOneListOnly() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: members, to: Node, many: true, ordered: true, inverse: { name: owner, many: false } }",
      mapping: Self.mapping(
        "members: { join: member, owner: a, target: b, order: place, table: node }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name);
      CREATE TABLE member (a, b, place);
      INSERT INTO node VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
      INSERT INTO member VALUES (1, 3, 2), (1, 4, 1), (2, 3, 1), (1, 4, 9), (2, NULL, 1), (NULL, 1, 1),
        (2, 77, 1), (88, 1, 1);
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejects == ["link_taken": 1, "orphan": 2])
      let links = report.relationships[0]
      #expect(links.linked == 2 && links.skipped == 1 && links.empty == 2 && links.rejected == 3)
      #expect(try made.links("Node", "members") == ["a: d c"])
      try made.change("DELETE FROM member WHERE a = 1")
      #expect(try made.planAndRun().rejects == ["orphan": 2])
      #expect(try made.links("Node", "members") == ["b: c"])
      try made.change("DELETE FROM member")
      #expect(try made.planAndRun().rejected == 0)
      #expect(try made.links("Node", "members").isEmpty)
    }
  }

  @Test func partnersAreEachOthers() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: partner, to: Node, inverse: { name: partner, many: false } }",
      mapping: Self.mapping("partner: { column: partner, table: node }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name, partner);
      INSERT INTO node VALUES (1, 'a', 2), (2, 'b', 1), (3, 'c', 4), (4, 'd', 5), (5, 'e', NULL);
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejects == ["link_taken": 1])
      #expect(try made.links("Node", "partner") == ["a: b", "b: a", "c: d", "d: c"])
      try made.planAndRun()
      #expect(try made.links("Node", "partner") == ["a: b", "b: a", "c: d", "d: c"])
    }
  }

  @Test func linksThatLeadNowhereCanBeDropped() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: parent, to: Node, inverse: { name: children, many: true } }",
      mapping: Self.mapping("parent: { column: parent, table: node, orphan: drop }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name, parent);
      INSERT INTO node VALUES (1, 'a', 0), (2, 'b', 1), (3, 'c', -1);
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.rejected == 0 && report.relationships[0].dropped == 2)
      #expect(try made.links("Node", "parent") == ["b: a"])
    }
  }

  @Test func aSymmetricRelationshipLinksBothSides() async throws {
    try await withMadeImport(
      steps: Self.node
        + "- createRelationship: { on: Node, name: friends, to: Node, many: true, inverse: { name: friends, many: true } }",
      mapping: Self.mapping("friends: { join: friend, owner: a, target: b, table: node }"),
      """
      CREATE TABLE node (id INTEGER PRIMARY KEY, name); CREATE TABLE friend (a, b);
      INSERT INTO node VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
      INSERT INTO friend VALUES (1, 2), (2, 3), (3, 1), (4, 1);
      """
    ) { made in
      try made.planAndRun()
      #expect(try made.links("Node", "friends") == ["a: b c d", "b: a c", "c: a b", "d: a"])
      try made.change(
        "DELETE FROM friend WHERE a = 2 OR a = 4; UPDATE node SET name = 'A' WHERE id = 1")
      try made.planAndRun()
      #expect(try made.links("Node", "friends") == ["A: b c", "b: A", "c: A"])
    }
  }

  // MARK: Several entities of one table

  private static let animals = """
    - createEntity:
        name: Cat
        attributes: [{ name: name, type: string, owner: local }]
    - createEntity:
        name: Dog
        attributes: [{ name: name, type: string, owner: local }]
    - createEntity:
        name: Bell
        attributes: [{ name: name, type: string, owner: local }]
    - createRelationship: { on: Bell, name: cat, to: Cat, inverse: { name: bells, many: true } }
    - createRelationship: { on: Bell, name: dog, to: Dog, inverse: { name: bells, many: true } }
    - createRelationship: { on: Cat, name: foes, to: Dog, many: true, inverse: { name: foes, many: true } }
    """

  private static let animalMapping = """
    entities:
      - entity: Cat
        table: animal
        where: { kind: [cat] }
        key: [id]
        attributes: { name: name }
        relationships: { foes: { join: foe, owner: a, target: b, table: animal } }
      - entity: Dog
        table: animal
        where: { kind: [dog, null] }
        key: [id]
        attributes: { name: name }
      - entity: Bell
        table: bell
        key: [id]
        attributes: { name: name }
        relationships:
          cat: { column: animal, table: animal }
          dog: { column: animal, table: animal }
    """

  @Test func aLinkLeadsToTheEntityThatItsRowHasBecome() async throws {
    try await withMadeImport(
      steps: Self.animals, mapping: Self.animalMapping,
      """
      CREATE TABLE animal (id INTEGER PRIMARY KEY, kind, name);
      CREATE TABLE bell (id INTEGER PRIMARY KEY, name, animal); CREATE TABLE foe (a, b);
      INSERT INTO animal VALUES (1, 'cat', 'Tom'), (2, 'dog', 'Rex'), (3, NULL, 'Pug'), (4, 'cow', 'Lou');
      INSERT INTO bell VALUES (1, 'one', 1), (2, 'two', 2), (3, 'three', 3), (4, 'four', 4), (5, 'five', 9);
      INSERT INTO foe VALUES (1, 2), (1, 3), (2, 1), (1, 1), (4, 1);
      """
    ) { made in
      let report = try made.planAndRun()
      #expect(report.tables[0].skipped == 1)
      #expect(report.rejects == ["row_rejected": 3, "orphan": 2])
      #expect(try made.links("Bell", "cat") == ["one: Tom"])
      #expect(try made.links("Bell", "dog") == ["two: Rex", "three: Pug"])
      #expect(try made.links("Cat", "foes") == ["Tom: Rex Pug"])
      // What leads to another entity now leaves the first.
      try made.change("UPDATE bell SET animal = 2 WHERE id = 1")
      try made.planAndRun()
      #expect(try made.links("Bell", "cat").isEmpty)
      #expect(try made.links("Bell", "dog") == ["one: Rex", "two: Rex", "three: Pug"])
    }
  }

  @Test func recordsAbsentFromTheSourceStayLinked() async throws {
    try await withMadeImport(
      steps: Self.animals, mapping: Self.animalMapping,
      """
      CREATE TABLE animal (id INTEGER PRIMARY KEY, kind, name);
      CREATE TABLE bell (id INTEGER PRIMARY KEY, name, animal); CREATE TABLE foe (a, b);
      INSERT INTO animal VALUES (1, 'cat', 'Tom'), (2, 'dog', 'Rex'), (3, 'dog', 'Pug');
      INSERT INTO bell VALUES (1, 'one', 1), (2, 'two', 2); INSERT INTO foe VALUES (1, 2), (1, 3);
      """
    ) { made in
      try made.planAndRun()
      try made.change(
        "DELETE FROM animal WHERE id = 2; UPDATE animal SET name = NULL WHERE id = 1")
      let report = try made.planAndRun()
      #expect(report.gone == 1 && report.rejects == ["null_required": 1])
      #expect(try made.links("Bell", "dog") == ["two: Rex"])
      #expect(try made.links("Cat", "foes") == ["Tom: Rex Pug"])
    }
  }

  @Test func aRowThatBecomesAnotherEntityIsAReject() async throws {
    try await withMadeImport(
      steps: Self.animals, mapping: Self.animalMapping,
      """
      CREATE TABLE animal (id INTEGER PRIMARY KEY, kind, name);
      CREATE TABLE bell (id INTEGER PRIMARY KEY, name, animal); CREATE TABLE foe (a, b);
      INSERT INTO animal VALUES (1, 'cat', 'Tom'), (2, 'dog', 'Rex');
      """
    ) { made in
      try made.planAndRun()
      try made.change("UPDATE animal SET kind = 'dog', name = 'Tim' WHERE id = 1")
      #expect(try made.planAndRun().rejects == ["invalid": 1])
      #expect(try made.values("Cat", "name") == ["Tom"] && made.values("Dog", "name") == ["Rex"])
    }
  }
}
