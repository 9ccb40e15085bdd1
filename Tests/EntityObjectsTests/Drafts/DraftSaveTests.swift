import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

/// Saves that fail, and saves whose changes must be applied in a certain order.
@Suite struct DraftSaveTests {
  private func refusals(_ draft: Draft) async throws -> [StoreError] {
    do {
      try await draft.save()
      Issue.record("the save should have failed")
      return []
    } catch let error as StoreError {
      return [error] + error.others
    }
  }

  @Test("A failed save names every broken rule, changes nothing, and can be corrected and repeated")
  func everyFailure() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let long = try draft.insert("Employee", ["name": "much too long", "salary": -1])
      let nameless = try draft.insert("Employee")
      let double = try draft.insert("Employee", ["name": "bravo", "badge": 1])
      try draft.update(Employee.self, staff.alpha) { $0.salary = -5 }
      try draft.update(Employee.self, staff.charlie) { $0.salary = 11 }
      let refused = try await refusals(draft)
      let reported = Set(
        refused.map { "\($0.code) \($0.object?.description ?? "-") \($0.property ?? "-")" })
      #expect(
        reported == [
          "validation \(long) name", "validation \(long) salary", "validation \(nameless) name",
          "uniqueViolation \(double) name", "validation \(staff.alpha) salary",
        ])
      #expect(refused.count == 5)
      #expect(try store.staff() == ["alpha 22", "bravo 25", "charlie 10"])
      #expect(draft.insertedObjects == [long, nameless, double])
      #expect(draft.updatedObjects == [staff.alpha, staff.charlie])

      try draft.update(long) {
        try $0.set("name", to: "long")
        try $0.set("salary", to: 1)
      }
      try draft.delete(nameless)
      try draft.update(double) { try $0.set("name", to: "double") }
      try draft.rollback(staff.alpha)
      try await draft.save()
      #expect(
        try store.staff() == ["alpha 22", "bravo 25", "charlie 11", "double 0", "long 1"])
    }
  }

  @Test("All violated unique indexes are reported, also among new records")
  func everyUniqueIndex() async throws {
    try await withStaff { store, staff in
      try await store.write { try $0.update(staff.alpha) { try $0.set("badge", to: 7) } }
      let draft = store.draft()
      let first = try draft.insert("Employee", ["name": "new", "badge": 8])
      let second = try draft.insert("Employee", ["name": "new", "badge": 7])
      let refused = try await refusals(draft)
      #expect(refused.map(\.property) == ["name", "badge"])
      #expect(refused.allSatisfy { $0.object == second && $0.code == .uniqueViolation })
      #expect("\(refused[0])".contains("record: \(first.number)"))
      try draft.update(second) {
        try $0.set("name", to: "newer")
        try $0.set("badge", to: 9)
      }
      try await draft.save()
      #expect(try store.staff().count == 5)
    }
  }

  @Test("Unique values pass from record to record, whatever the order", arguments: [true, false])
  func uniqueValuesPass(isUpward: Bool) async throws {
    try await withTemporaryStore(migrations: [Staff.source]) { temporary in
      let ids = try await temporary.store.write { transaction in
        try (0..<50).map {
          try transaction.insert(
            "Employee", ["name": .string("e\($0)"), "badge": .int64(Int64($0))])
        }
      }
      let draft = temporary.store.draft()
      for (number, id) in ids.enumerated() {
        let badge = Int64(isUpward ? number + 1 : number - 1)
        try draft.update(id) { try $0.set("badge", to: .int64(badge)) }
      }
      try draft.delete(ids[isUpward ? 49 : 0])
      try draft.insert("Employee", ["name": "e49", "badge": .int64(isUpward ? 0 : 49)])
      if !isUpward { try draft.update(ids[49]) { try $0.set("name", to: "last") } }
      try await draft.save()
      let badges = try temporary.store.fetch(
        FetchRequest(entityName: "Employee", sortBy: [SortKey("badge")])
      ).map { try $0["badge"] }
      #expect(badges == (0..<50).map { .int64(Int64($0)) })
    }
  }

  @Test("A `deny` rule sees the other changes of the draft")
  func denied() async throws {
    try await withStaff { store, staff in
      let (red, blue) = try await store.write { transaction in
        let red = try transaction.insert("Team", ["name": "red"])
        let blue = try transaction.insert("Team", ["name": "blue"])
        try transaction.setRelated(red, "leads", to: [staff.alpha, staff.bravo, staff.charlie])
        return (red, blue)
      }
      let draft = store.draft()
      try draft.delete(red)
      try draft.delete(staff.alpha)
      #expect(code { try draft.removeRelated([staff.bravo], from: red, "leads") } == .missingRecord)
      let refused = try await refusals(draft)
      #expect(refused.map(\.code) == [.deletionDenied])
      #expect(refused.map(\.object) == [red])
      try draft.addRelated([staff.bravo], to: blue, "leads")
      try draft.setRelated(staff.charlie, "lead", to: nil)
      try await draft.save()
      #expect(try store.staff() == ["bravo 25", "charlie 10"])
      #expect(try store.read { try $0.get(red) } == nil)
    }
  }

  @Test("A link may wait for a row that waits for a deletion that waits for a link")
  func waitingInTurn() async throws {
    try await withStaff { store, staff in
      let red = try await store.write { transaction in
        let red = try transaction.insert("Team", ["name": "red"])
        try transaction.setRelated(red, "leads", to: [staff.alpha, staff.bravo])
        return red
      }
      let draft = store.draft()
      let other = try draft.insert("Team", ["name": "red"])
      try draft.removeRelated([staff.alpha, staff.bravo], from: red, "leads")
      try draft.addRelated([staff.alpha], to: other, "leads")
      try draft.update(Employee.self, staff.alpha) { $0.salary = 1 }
      try draft.delete(red)
      let identities = try await draft.save()
      let real = try #require(identities[other])
      #expect(try store.read { try $0.related(real, "leads") } == [staff.alpha])
      #expect(try store.staff() == ["alpha 1", "bravo 25", "charlie 10"])
    }
  }

  @Test("A record that waits for a deletion is not lost to another one")
  func cascadesWait() async throws {
    try await withStaff { store, staff in
      let (red, blue) = try await store.write { transaction in
        let red = try transaction.insert("Team", ["name": "red"])
        try transaction.setRelated(red, "members", to: [staff.alpha, staff.bravo, staff.charlie])
        return (red, try transaction.insert("Team", ["name": "blue"]))
      }
      let draft = store.draft()
      for id in [red, blue, staff.charlie] { try draft.delete(id) }
      let new = try draft.insert("Team", ["name": "blue"])
      try draft.addRelated([staff.alpha], to: new, "members")
      try draft.update(staff.bravo) {
        try $0.set("name", to: "charlie")
        try $0.set("team", to: .null)
      }
      let identities = try await draft.save()
      #expect(try store.staff() == ["alpha 22", "charlie 25"])
      let real = try #require(identities[new])
      #expect(try store.read { try $0.related(real, "members") } == [staff.alpha])
    }
  }

  @Test("A dangling reference is reported with object and property")
  func dangling() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let delta = try draft.insert(Employee("delta", 1))
      let echo = try draft.insert(Employee("echo", 1, mentor: delta))
      try draft.rollback(delta)
      #expect(try draft.get(Employee.self, echo)?.mentor?.id == delta)
      let refused = try await refusals(draft)
      #expect(refused.map(\.object) == [echo] && refused.map(\.property) == ["mentor"])
      try draft.setRelated(echo, "mentor", to: staff.alpha)
      try await draft.save()
      #expect(try store.staff().last == "echo 1")
    }
  }

  @Test("The delete rules apply to the links of a deleted new record")
  func deletedInsertion() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let delta = try draft.insert(Employee("delta", 1))
      let echo = try draft.insert(Employee("echo", 1, mentor: delta))
      try draft.update(Employee.self, staff.alpha) { $0.mentor = ToOne(delta) }
      let red = try draft.insert("Team", ["name": "red"])
      for id in [delta, staff.bravo] { try draft.setRelated(id, "team", to: red) }
      try draft.update(echo) { try $0.set("desk", to: .int64(delta.number)) }
      try draft.delete(red)
      #expect(draft.insertedObjects == [echo])
      #expect(draft.updatedObjects.isEmpty && draft.deletedObjects == [staff.bravo])
      let values = try draft.get(echo)
      #expect(try values?["mentor"] == .null && values?["desk"] == .null)

      let blue = try draft.insert("Team", ["name": "blue"])
      try draft.setRelated(echo, "lead", to: blue)
      try draft.delete(blue)
      let refused = try await refusals(draft)
      #expect(refused.map(\.object) == [echo] && refused.map(\.property) == ["lead"])
      try draft.setRelated(echo, "lead", to: nil)
      try await draft.save()
      #expect(try store.staff() == ["alpha 22", "charlie 10", "echo 1"])
    }
  }

  @Test("Records that deny each other's deletion are deleted together")
  func deniedByEachOther() async throws {
    try await withVenues(3) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        try transaction.setRelated(venue(1), "owner", to: venue(2))
        try transaction.setRelated(venue(2), "owner", to: venue(1))
      }
      let draft = store.draft()
      try draft.delete(venue(1))
      #expect(try await refusals(draft).map(\.code) == [.deletionDenied])
      try draft.delete(venue(2))
      try await draft.save()
      #expect(try store.column("wins") == [2])
    }
  }

  @Test("A draft that no longer fits the schema is an error, and loses nothing")
  func schemaChange() async throws {
    try await withTemporaryStore(migrations: [Staff.source]) { temporary in
      let staff = try await ThreeEmployees(in: temporary.store)
      let draft = temporary.store.draft()
      try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      let grown = try openStore(at: temporary.folder.path("store"), migrations: [Staff.grown])
      try grown.migrate()
      // The old program may not write to the newer store; a draft of the new one may.
      let other = grown.draft()
      try other.update(staff.bravo) { try $0.set("title", to: "Dr") }
      try await other.save()
      #expect(await code { try await draft.save() } != nil)
      #expect(
        code { try draft.fetch(FetchRequest(entityName: "Employee")) } == .schemaMismatch)
      #expect(try draft.get(staff.alpha)?["salary"] == 5)
      #expect(draft.hasChanges)
      draft.rollback()
      #expect(try draft.fetch(FetchRequest(entityName: "Employee")).count == 3)
    }
  }

  @Test("A draft whose store is closed fails to save and loses nothing")
  func closedStore() async throws {
    try await withTemporaryStore(migrations: [Staff.source]) { temporary in
      let staff = try await ThreeEmployees(in: temporary.store)
      let other = try openStore(
        at: temporary.folder.path("store"), migrations: [Staff.source])
      let draft = other.draft()
      let delta = try draft.insert(Employee("delta", 1))
      try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      other.close()
      #expect(await code { try await draft.save() } == .closed)
      #expect(code { try draft.fetch(FetchRequest(entityName: "Employee")) } == .closed)
      #expect(draft.insertedObjects == [delta] && draft.updatedObjects == [staff.alpha])
      #expect(try draft.get(delta)?["name"] == "delta")
      #expect(try temporary.store.staff() == ["alpha 22", "bravo 25", "charlie 10"])
    }
  }

  @Test("The number of changes in a draft is limited")
  func bound() async throws {
    try await withTemporaryStore(migrations: [Staff.source]) { temporary in
      let entity = try temporary.store.read { try $0.layout("Team") }
      var pending = PendingChanges()
      for number in 0..<StoreLimits.pendingChangesMax {
        try pending.insert(Int64(number), entity.newRow(), into: entity)
      }
      #expect(code { try pending.insert(-1, entity.newRow(), into: entity) } == .invalidRequest)
      try pending.update(0, to: ["red"], from: [""], of: entity)
      #expect(pending.object(0, of: "Team")?.values == ["red"])
    }
  }

  @Test("A draft cannot be changed while it is being saved")
  func duringASave() async throws {
    try await withStaff { store, staff in
      try await OneDomain(store).run(staff.alpha)
    }
  }
}

/// The domain of a draft that is saved by one task and changed by another.
private actor OneDomain {
  private let store: Store
  private let draft: Draft
  private var isSaving = false

  init(_ store: Store) {
    self.store = store
    draft = store.draft()
  }

  func run(_ id: ObjectID) async throws {
    try draft.update(Employee.self, id) { $0.salary = 1 }
    let gate = Gate()
    // The writer is busy, so that the save must wait.
    let busy = Task { [store] in try await store.write { _ in gate.pass() } }
    await gate.waitForArrival()
    async let saving: Void = save()
    while !isSaving { await Task.yield() }
    #expect(code { try draft.update(Employee.self, id) { $0.salary = 2 } } == .invalidRequest)
    #expect(code { try draft.delete(id) } == .invalidRequest)
    #expect(try draft.get(Employee.self, id)?.salary == 1)
    gate.open()
    try await busy.value
    try await saving
    #expect(try store.fetch(FetchDescriptor<Employee>()).first?.salary == 1)
  }

  private func save() async throws {
    isSaving = true
    try await draft.save()
  }
}
