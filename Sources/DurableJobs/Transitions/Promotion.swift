import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Makes the scheduled jobs ready whose time has come, a bounded number at a time.
  func promote() throws {
    let cursor = try cursor(.scheduled)
    var count = 0
    while let id = try cursor.next() {
      var job = try job(ofTurn: id)
      guard job.at <= now, count < Limits.movesPerTransactionMax else { return }
      job.move(to: .ready, at: job.at)
      try update(job)
      count += 1
    }
  }
}
