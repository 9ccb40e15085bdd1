import EntityModel
import Testing

@testable import EntityObjects
@testable import EntityStore
@testable import Migrations

/// The changes that Core Data's FetchedResultsController reports to its delegate, case by case.
@Suite struct ResultsChangeTests {
  /// Sections 0 (name null) with two rows and 1 with one row, all at place 2.
  private var model = ResultsModel(groups: 5, isSectioned: true)
  private let ids: [Int64]

  init() {
    ids = [
      model.insert(group: 0, place: 2), model.insert(group: 0, place: 2),
      model.insert(group: 2, place: 2),
    ]
  }

  private typealias Change = ResultsChange<Int64>

  private func difference(
    _ change: (inout ResultsModel) -> Void
  ) -> (difference: ResultsDifference<Int64>, model: ResultsModel) {
    var next = model
    change(&next)
    let (snapshot, difference) = model.snapshot.advanced(
      to: next.snapshot.windowed.rows, window: next.window, by: next.transitions(since: model))
    #expect(snapshot == next.snapshot)
    #expect(throws: Never.self) {
      let applied = try model.snapshot.applying(difference)
      #expect(applied == snapshot)
    }
    return (difference, next)
  }

  private func row(_ number: Int, in model: ResultsModel) throws -> LiveRow<Int64> {
    try model.row(#require(model.records[ids[number]]))
  }

  private func at(_ section: Int, _ item: Int) -> ResultsIndex {
    ResultsIndex(section: section, item: item)
  }

  @Test func anInsertedRowIsReportedAtItsNewPlace() throws {
    var id: Int64 = 0
    let (difference, next) = difference { id = $0.insert(group: 0, place: 1) }
    let row = try next.row(#require(next.records[id]))
    #expect(difference.rows == [.insert(at: at(0, 0), row)])
    #expect(difference.sections.isEmpty)
    let (behind, after) = self.difference { id = $0.insert(group: 0, place: 2) }
    #expect(try behind.rows == [.insert(at: at(0, 2), after.row(#require(after.records[id])))])
  }

  @Test func theFirstRowOfASectionInsertsTheSection() throws {
    var id: Int64 = 0
    let (difference, next) = difference { id = $0.insert(group: 1, place: 0) }
    #expect(difference.sections == [.insert(at: 1, name: "section 1")])
    #expect(try difference.rows == [.insert(at: at(1, 0), next.row(#require(next.records[id])))])
  }

  @Test func aDeletedRowIsReportedAtItsOldPlace() throws {
    let (difference, _) = difference { $0.records[ids[1]] = nil }
    #expect(try difference.rows == [.delete(at: at(0, 1), id: row(1, in: model).id)])
    #expect(difference.sections.isEmpty)
  }

  @Test func deletingTheLastRowOfASectionDeletesTheSection() throws {
    let (difference, _) = difference { $0.records[ids[2]] = nil }
    #expect(difference.sections == [.delete(at: 1, name: "section 2")])
    #expect(try difference.rows == [.delete(at: at(1, 0), id: row(2, in: model).id)])
  }

  @Test func aRowWhoseOrderStaysIsUpdated() throws {
    let (same, next) = difference { $0.change(ids[1]) }
    #expect(try same.rows == [.update(at: at(0, 1), to: at(0, 1), row(1, in: next))])
    // Another sort key, but still behind the first row.
    let (behind, after) = difference { $0.change(ids[1]) { $0.place = 5 } }
    #expect(try behind.rows == [.update(at: at(0, 1), to: at(0, 1), row(1, in: after))])
  }

  @Test func anUpdatedRowThatShiftsHasBothPlaces() throws {
    let (difference, next) = difference {
      $0.records[ids[0]] = nil
      $0.change(ids[1])
    }
    #expect(
      try difference.rows == [
        .delete(at: at(0, 0), id: row(0, in: model).id),
        .update(at: at(0, 1), to: at(0, 0), row(1, in: next)),
      ])
  }

  @Test func aRowThatPassesAnotherMoves() throws {
    let (difference, next) = difference { $0.change(ids[1]) { $0.place = 0 } }
    #expect(try difference.rows == [.move(from: at(0, 1), to: at(0, 0), row(1, in: next))])
  }

  @Test func aRowThatChangesItsSectionMovesOnce() throws {
    let (difference, next) = difference {
      $0.change(ids[1]) {
        ($0.group, $0.place) = (2, 0)
      }
    }
    #expect(try difference.rows == [.move(from: at(0, 1), to: at(1, 0), row(1, in: next))])
    #expect(difference.sections.isEmpty)
  }

  @Test func aRenamedSectionIsDeletedAndInserted() throws {
    let (difference, next) = difference { model in
      model.names[2] = "other"
      model.change(ids[2])
    }
    #expect(
      difference.sections == [
        .delete(at: 1, name: "section 2"), .insert(at: 1, name: "other"),
      ])
    #expect(try difference.rows == [.move(from: at(1, 0), to: at(1, 0), row(2, in: next))])
  }

  @Test func oneOfTwoNeighborsThatSwapMovesAndTheOtherIsUpdated() throws {
    let (difference, _) = difference {
      $0.change(ids[0]) { $0.place = 4 }
      $0.change(ids[1]) { $0.place = 3 }
    }
    let kinds = difference.rows.map { if case .move = $0 { "move" } else { "update" } }
    #expect(kinds == ["move", "update"])
  }

  @Test func anUnrelatedChangeIsSilent() {
    #expect(difference { _ in }.difference.isEmpty)
    var windowed = self
    windowed.model.window.limit = 2
    #expect(windowed.difference { $0.change(ids[2]) }.difference.isEmpty)
  }

  @Test func aFullWindowLetsTheLastRowOutAndTheNextOneIn() throws {
    var windowed = self
    windowed.model.window = ResultsWindow(offset: 1, limit: 1)
    // A row before the window pushes.
    let (pushed, next) = windowed.difference { $0.insert(group: 0, place: 0) }
    #expect(
      try pushed.rows == [
        .delete(at: at(0, 0), id: row(1, in: model).id), .insert(at: at(0, 0), row(0, in: next)),
      ])
    #expect(pushed.sections.isEmpty)
    // A row that is gone pulls the next one in, with its section.
    let (pulled, after) = windowed.difference { $0.records[ids[1]] = nil }
    #expect(
      pulled.sections == [.delete(at: 0, name: .null), .insert(at: 0, name: "section 2")])
    #expect(
      try pulled.rows == [
        .delete(at: at(0, 0), id: row(1, in: model).id), .insert(at: at(0, 0), row(2, in: after)),
      ])
  }

  @Test func aRowThatPassesOnlyOneThatLeavesTheWindowIsUpdated() throws {
    var windowed = self
    windowed.model.window.limit = 2
    let (difference, next) = windowed.difference {
      $0.insert(group: 0, place: 0)
      $0.change(ids[1]) { $0.place = 1 }
    }
    #expect(try difference.rows.first == .delete(at: at(0, 0), id: row(0, in: model).id))
    #expect(try difference.rows.last == .update(at: at(0, 1), to: at(0, 1), row(1, in: next)))
    #expect(difference.rows.count == 3)
  }

  @Test func resultsWithoutSectionsAlwaysHaveOne() throws {
    var plain = self
    plain.model.isSectioned = false
    let (difference, next) = plain.difference { $0.records = [:] }
    #expect(difference.sections.isEmpty && difference.rows.count == 3)
    #expect(next.snapshot.sections == [ResultsSection(name: .null, count: 0)])
    #expect(model.snapshot.sections.count == 2)
    #expect(ResultsModel(groups: 1, isSectioned: true).snapshot.sections.isEmpty)
  }

  @Test func aRefetchByOtherKeysInTheSameOrderReportsNoChange() throws {
    var next = model
    for id in ids { next.records[id]?.place += 2 }
    let result = model.snapshot.refetched(as: next.snapshot.windowed.rows, window: next.window)
    #expect(result.difference.isEmpty)
    #expect(result.snapshot == next.snapshot)
  }
}
