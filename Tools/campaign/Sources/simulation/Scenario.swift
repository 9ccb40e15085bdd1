import DurableJobs
import EntityModel
import FeedSync
import Foundation
import Synchronization

@testable import EntityStore

/// The feeds and schedules of a simulation.
enum Scenario {
  static let hosts = ["a.example", "b.example", "c.example"]
  private static let minutes = [10, 20, 30]

  /// Adds them to a new store, and to the model.
  static func build(_ world: World) async throws {
    let feeds = Feeds(world.store)
    for number in 1...world.chance.number(4...9) {
      let host = world.chance.pick(hosts)
      let url = "https://\(host)/feed-\(number).json"
      let every = world.chance.pick([900, 1_800, 3_600, 4 * 3_600])
      try await feeds.add(url, Feeds.Settings(every: .seconds(every)))
      let id = try feeds.find(url).id
      let model = FeedModel(
        number: id, url: url, host: host, every: every, activeSince: world.now)
      world.network.change { $0.feeds.append(model) }
      world.trace.add("feed \(id) \(url) every \(every) s")
    }
    let queue = JobQueue(world.store)
    for minutes in minutes {
      let recurrence = try Recurrence(
        CronExpression("*/\(minutes) * * * *"), in: Recurrence.zone(named: "UTC"),
        missed: world.chance.pick([.once, .skip]))
      var request = try JobRequest(Work(world.chance))
      request.queue = "scheduled"
      try await queue.setSchedule(JobSchedule("every-\(minutes)", recurrence, request))
    }
    for (id, status) in try scheduleNumbers(world.store) {
      world.periods.withLock { $0[id] = status * 60 }
    }
  }

  private static func scheduleNumbers(_ store: Store) throws -> [(Int64, Int)] {
    try store.read { transaction in
      try transaction.fetch(FetchRequest(entityName: "_JobSchedule")).map { record in
        guard case .string(let name) = try record["name"], let minutes = Int(name.dropFirst(6))
        else { throw Violation("a schedule has no name") }
        return (record.id.number, minutes)
      }
    }
  }
}
