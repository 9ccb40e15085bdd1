import EntityModel
import Synchronization
import Testing

@testable import EntityObjects
@testable import EntityStore

/// How many rows a difference looks at, where few of very many change.
@Suite struct DifferenceCostTests {
  private struct Watched: ResultsRow {
    static let looks = Atomic(0)
    let number: Int64

    var key: EntityObjects.RowKey {
      Self.looks.add(1, ordering: .relaxed)
      // Big-endian, so that the bytes sort as the numbers do.
      return EntityObjects.RowKey(
        bytes: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }, id: number)
    }
    var section: Value {
      Self.looks.add(1, ordering: .relaxed)
      return .int64(number / 10_000)
    }
    var identity: Int64 { number }
    var contentHash: Int64 { 0 }
  }

  // One after the other, because they share the count.
  @Test(.serialized, arguments: [ResultsWindow(), ResultsWindow(offset: 20_000, limit: 50_000)])
  func aFewChangesAmongAHundredThousandRowsReadAFewHundred(window: ResultsWindow) {
    // Even numbers, so that there is room between.
    let before = OrderedRows(ascending: (0..<100_000).map { Watched(number: $0 * 2) })
    let old = WindowedRows(rows: before, window: window, isSectioned: true)
    let rows = [Watched(number: 1), Watched(number: 90_001), Watched(number: 120_000)]
    Watched.looks.store(0, ordering: .relaxed)

    var after = before
    after.insert(rows[0])
    after.insert(rows[1])
    after.remove(rows[2].key)
    let difference = RowsDifference(
      from: old, to: after, window: window,
      transitions: [
        RowTransition(from: nil, to: rows[0].key), RowTransition(from: nil, to: rows[1].key),
        RowTransition(from: rows[2].key, to: nil),
      ])

    // A search takes 17 looks or a few more, and there are 3 of each kind.
    #expect(Watched.looks.load(ordering: .relaxed) < 250)
    // What one row before the window and one in it push out, and one that leaves it pulls in.
    let pushed = window.limit == nil ? 0 : 1
    #expect(difference.deleted.count == 1 + pushed)
    #expect(difference.inserted.count == 2)
    #expect(difference.moved.isEmpty && difference.updated.isEmpty)
  }
}
