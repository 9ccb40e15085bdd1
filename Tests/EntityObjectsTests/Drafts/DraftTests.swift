import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

@Suite struct DraftTests {
  @Test("A draft changes nothing in the store until it is saved, and is empty afterwards")
  func scratchpad() async throws {
    try await withStaff { store, staff in
      let draft = store.draft(author: "ui")
      #expect(!draft.hasChanges)
      let delta = try draft.insert(Employee("delta", 30))
      try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      try draft.delete(Employee.self, staff.bravo)
      #expect(draft.insertedObjects == [delta])
      #expect(draft.updatedObjects == [staff.alpha])
      #expect(draft.deletedObjects == [staff.bravo])
      #expect(try draft.get(staff.bravo) == nil)
      #expect(try store.staff() == ["alpha 22", "bravo 25", "charlie 10"])

      let identities = try await draft.save()
      #expect(try store.staff() == ["alpha 5", "charlie 10", "delta 30"])
      #expect(!draft.hasChanges)
      let real = try #require(identities[delta])
      #expect(identities.count == 1 && !real.isTemporary)
      #expect(try draft.get(Employee.self, real)?.name == "delta")
      #expect(try draft.get(delta) == nil)
      #expect(try await draft.save() == [:])
    }
  }

  @Test("Rolling back discards all changes, or those of one record")
  func rollback() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let delta = try draft.insert(Employee("delta", 30))
      try draft.update(Employee.self, staff.alpha) { $0.salary = 5 }
      try draft.delete(staff.bravo)
      try draft.rollback(staff.bravo)
      #expect(try draft.get(staff.bravo) != nil)
      try draft.rollback(delta)
      #expect(try draft.get(delta) == nil)
      #expect(draft.updatedObjects == [staff.alpha])
      draft.rollback()
      #expect(!draft.hasChanges)
      #expect(try draft.get(Employee.self, staff.alpha)?.salary == 22)
    }
  }

  @Test("Restored values are no change, and a deleted new record leaves nothing")
  func noChange() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      try draft.update(staff.alpha) { try $0.set("salary", to: 5) }
      #expect(draft.hasChanges)
      try draft.update(staff.alpha) { try $0.set("salary", to: 22) }
      #expect(!draft.hasChanges)
      try draft.update(Employee.self, staff.alpha) { $0.salary += 0 }
      #expect(!draft.hasChanges)
      let delta = try draft.insert(Employee("delta", 30))
      #expect(try draft.delete(delta))
      #expect(!draft.hasChanges)
      #expect(try !draft.delete(delta))
      let red = try await store.write { try $0.insert("Team", ["name": "red"]) }
      let echo = try draft.insert(Employee("echo", 30))
      try draft.addRelated([echo], to: red, "members")
      try draft.delete(echo)
      #expect(!draft.hasChanges)
    }
  }

  @Test("A missing or deleted record cannot be changed")
  func missing() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      try draft.delete(staff.alpha)
      #expect(code { try draft.update(staff.alpha) { _ in } } == .missingRecord)
      #expect(code { try draft.update(Employee.self, staff.alpha) { _ in } } == .missingRecord)
      #expect(try !draft.delete(staff.alpha))
      let other = store.draft()
      let delta = try other.insert(Employee("delta", 1))
      #expect(try draft.get(delta) == nil)
      #expect(
        code { try draft.get(Employee.self, ObjectID(entity: "Team", number: 1)) }
          == .invalidRequest)
      #expect(
        code { try draft.update(staff.bravo) { record in record = try draft.get(staff.charlie)! } }
          == .invalidRequest)
      #expect(code { try draft.insert("Employee", ["nmae": "x"]) } == .unknownAttribute)
      #expect(code { try draft.insert("Employe") } == .unknownEntity)
    }
  }

  @Test("A value of another kind is refused at once and leaves the draft as it was")
  func kinds() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      #expect(code { try draft.insert("Employee", ["salary": "much"]) } == .validation)
      #expect(code { try draft.update(staff.alpha) { try $0.set("name", to: 1) } } == .validation)
      #expect(!draft.hasChanges)
    }
  }

  @Test("New records may refer to each other, also in a cycle")
  func references() async throws {
    try await withStaff { store, _ in
      let draft = store.draft()
      let delta = try draft.insert(Employee("delta", 30))
      let echo = try draft.insert(Employee("echo", 40, mentor: delta))
      try draft.update(Employee.self, delta) { $0.mentor = ToOne(echo) }
      let team = try draft.insert("Team", ["name": "red"])
      for id in [echo, delta] { try draft.setRelated(id, "team", to: team) }
      let identities = try await draft.save()
      let (d, e) = (try #require(identities[delta]), try #require(identities[echo]))
      try store.read { transaction in
        #expect(try transaction.get(Employee.self, d)?.mentor?.id == e)
        #expect(try transaction.get(Employee.self, e)?.mentor?.id == d)
        let members = try transaction.related(try #require(identities[team]), "members")
        #expect(members == [d, e])
      }
    }
  }

  @Test("To-many links are changed by the save, in order")
  func links() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      let team = try draft.insert("Team", ["name": "red"])
      let delta = try draft.insert(Employee("delta", 30))
      try draft.setRelated(team, "members", to: [staff.alpha, staff.bravo])
      try draft.addRelated([delta, staff.charlie], to: team, "members", at: 0)
      try draft.removeRelated([staff.alpha], from: team, "members")
      try draft.setRelated(staff.alpha, "desk", to: delta)
      #expect(code { try draft.addRelated([team], to: team, "members") } == .invalidRequest)
      #expect(code { try draft.setRelated(team, "members", to: delta) } == .invalidRequest)
      #expect(code { try draft.setRelated(delta, "team", to: [team]) } == .invalidRequest)
      #expect(code { try draft.setRelated(delta, "taem", to: team) } == .unknownRelationship)
      let identities = try await draft.save()
      let real = try #require(identities[delta])
      try store.read { transaction in
        let members = try transaction.related(try #require(identities[team]), "members")
        #expect(members == [real, staff.charlie, staff.bravo])
        #expect(try transaction.relatedObject(real, "deskOf") == staff.alpha)
      }
    }
  }

  @Test("A record that is moved away from a deleted one is not deleted with it")
  func cascades() async throws {
    try await withStaff { store, staff in
      let (red, blue) = try await store.write { transaction in
        let red = try transaction.insert("Team", ["name": "red"])
        let blue = try transaction.insert("Team", ["name": "blue"])
        try transaction.setRelated(red, "members", to: [staff.alpha, staff.bravo, staff.charlie])
        return (red, blue)
      }
      let draft = store.draft()
      try draft.delete(red)
      try draft.setRelated(staff.alpha, "team", to: blue)
      try draft.addRelated([staff.bravo], to: blue, "members")
      try await draft.save()
      #expect(try store.staff() == ["alpha 22", "bravo 25"])
    }
  }

  @Test("Fetch-or-insert sees what the draft has inserted, changed and deleted")
  func fetchOrInsert() async throws {
    try await withStaff { store, staff in
      let draft = store.draft()
      #expect(try draft.fetchOrInsert("Employee", by: ["name": "alpha"]) == (staff.alpha, false))
      let (delta, isNew) = try draft.fetchOrInsert(
        "Employee", by: ["name": "delta"], orInsert: ["salary": 3])
      #expect(isNew && delta.isTemporary)
      #expect(try draft.fetchOrInsert("Employee", by: ["salary": 3]) == (delta, false))
      #expect(
        try draft.fetchOrInsert(
          Employee.self, where: \.name, is: "delta", orInsert: { Employee("delta", 0) })
          == (delta, false))
      try draft.update(Employee.self, staff.alpha) { $0.name = "zulu" }
      #expect(try draft.fetchOrInsert("Employee", by: ["name": "zulu"]) == (staff.alpha, false))
      #expect(try draft.fetchOrInsert("Employee", by: ["name": "alpha"]).wasInserted)
      try draft.delete(staff.bravo)
      #expect(try draft.fetchOrInsert("Employee", by: ["name": "bravo"]).wasInserted)
      #expect(try draft.fetchOrInsert("Employee", by: ["mentor": .null]) == (staff.alpha, false))
      #expect(code { try draft.fetchOrInsert("Employee", by: [:]) } == .invalidRequest)
      #expect(
        code {
          try draft.fetchOrInsert(
            Employee.self, where: \.name, is: "echo", orInsert: { Employee("eco", 0) })
        } == .invalidRequest)
      try await draft.save()
      #expect(
        try store.staff() == ["alpha 0", "bravo 0", "charlie 10", "delta 3", "zulu 22"])
    }
  }

  @Test("A write transaction fetches or inserts by any attribute, including a reference")
  func fetchOrInsertInWrite() async throws {
    try await withStaff { store, staff in
      try await store.write { transaction in
        #expect(
          try transaction.fetchOrInsert("Employee", by: ["salary": 25]) == (staff.bravo, false))
        let (delta, isNew) = try transaction.fetchOrInsert(
          "Employee", by: ["name": "delta"],
          orInsert: ["mentor": .int64(staff.alpha.number), "name": "other"])
        #expect(isNew)
        #expect(
          try transaction.fetchOrInsert(
            "Employee", by: ["mentor": .int64(staff.alpha.number), "name": "delta"])
            == (delta, false))
        #expect(
          try transaction.fetchOrInsert(
            Employee.self, where: \.name, is: "echo", orInsert: { Employee("echo", 1) }
          ).wasInserted)
        #expect(code { try transaction.fetchOrInsert("Employee", by: [:]) } == .invalidRequest)
      }
      #expect(
        try store.staff() == ["alpha 22", "bravo 25", "charlie 10", "delta 0", "echo 1"])
    }
  }
}
