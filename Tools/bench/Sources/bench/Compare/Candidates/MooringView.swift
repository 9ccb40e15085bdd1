import EntityModel
import EntityStore
import Foundation

/// Two fields of Mooring's records as columns of result rows, which need no Swift type. It reads the
/// store of `MooringCandidate`.
final class MooringView: CardReader {
  let name = CandidateName.mooringView
  private let store: MooringCandidate

  init(of store: MooringCandidate) { self.store = store }

  func cards(_ list: HomeList, limit: Int) throws -> [Card] {
    try store.cardRows(list, limit: limit).map { row in
      guard case .string(let title) = row.values.first, case .date(let date) = row.values.last
      else { throw BenchError(.mismatch, "\(name): two other columns: \(row)") }
      return Card(title: title, updatedAt: date.timeIntervalSinceReferenceDate)
    }
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    try store.cardRows(list, limit: limit).count
  }
}
