import ArgumentParser
import Foundation
import Mooring
import Synchronization

/// Writes one row after another, each durably, until its standard input ends. It prints a line when
/// it begins, and the milliseconds of each write at the end.
struct PutLoop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put-loop", abstract: "Writes rows until its input ends.", shouldDisplay: false)

  @Argument var folder: String

  func run() throws {
    let ended = Mutex(false)
    Thread {
      while readLine() != nil {}
      ended.withLock { $0 = true }
    }.start()
    var options = Store.Options()
    options.mapSize = 8 << 30
    let store = try Store.open(at: folder, options: options)
    FileHandle.standardOutput.write(Data("begins\n".utf8))
    let times = try blocking {
      var times: [Double] = []
      var number = 0
      while !ended.withLock({ $0 }) {
        number += 1
        let row = number % 1_000 + 1
        times.append(
          try await seconds {
            try await store.write { transaction in
              try transaction.update(ObjectID(entity: "Episode", number: Int64(row))) {
                try $0.set("progress", to: .double(Double.random(in: 0..<1)))
              }
            }
          })
        usleep(2_000)
      }
      return times
    }
    for time in times { print(time * 1_000) }
  }
}
