import Foundation
import Mooring

/// Reads two fields of Mooring's records in place, in the map. It creates no Swift values except
/// those it returns. It reads the store of a `MooringCandidate`.
final class MooringView: CardReader {
  let name = CandidateName.mooringView
  private let store: MooringCandidate

  init(of store: MooringCandidate) { self.store = store }

  func cards(_ list: HomeList, limit: Int) throws -> [Card] {
    var cards: [Card] = []
    try store.eachCard(list, limit: limit) { title, date in
      cards.append(
        Card(title: String(copying: title), updatedAt: date.timeIntervalSinceReferenceDate))
    }
    return cards
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    var count = 0
    try store.eachCard(list, limit: limit) { _, _ in count += 1 }
    return count
  }
}
