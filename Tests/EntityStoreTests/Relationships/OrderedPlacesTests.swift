import TestSupport
import Testing

@testable import EntityStore

@Suite struct OrderedPlacesTests {
  private static let gap = OrderedPlaces.gap

  @Test func newPlacesAreBetweenTheirNeighbors() {
    #expect(OrderedPlaces.filled([]) == [])
    #expect(OrderedPlaces.filled([nil, nil]) == [0, Self.gap])
    #expect(OrderedPlaces.filled([10, nil, 20]) == [10, 15, 20])
    #expect(OrderedPlaces.filled([10, nil, nil, 16]) == [10, 12, 14, 16])
    #expect(OrderedPlaces.filled([5, nil]) == [5, 5 + Self.gap])
    #expect(OrderedPlaces.filled([nil, nil, 5]) == [5 - 2 * Self.gap, 5 - Self.gap, 5])
  }

  @Test(
    "Without room all places are assigned again",
    arguments: [
      [10, nil, 11], [10, 10], [11, 10], [.max, nil], [nil, .min], [.max - 1, nil, .max],
      [3, nil, nil, 5],
    ] as [[Int64?]])
  func renumbered(places: [Int64?]) {
    let all = (0..<Int64(places.count)).map { $0 * Self.gap }
    #expect(OrderedPlaces.filled(places) == all)
  }

  @Test("Places always ascend, and existing ones stay where possible", arguments: [5])
  func placesAscend(seed: UInt64) {
    var random = SeededRandom(seed: testSeed(seed))
    for round in 0..<500 {
      var places: [Int64?] = []
      for _ in 0..<200 {
        places.insert(nil, at: random.oneIn(2) ? places.count / 2 : random.number(0...places.count))
        let filled = OrderedPlaces.filled(places)
        guard zip(filled, filled.dropFirst()).allSatisfy({ $0 < $1 }) else {
          Issue.record("seed \(random.seed), round \(round): \(places) gives \(filled)")
          return
        }
        places = filled
      }
    }
  }

  @Test func theEndOfTheRangeIsNoPlace() {
    #expect(OrderedPlaces.after(nil) == 0)
    #expect(OrderedPlaces.after(7) == 7 + Self.gap)
    #expect(OrderedPlaces.after(.max - 1) == nil)
  }
}
