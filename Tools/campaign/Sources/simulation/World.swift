import FeedSync
import Foundation
import Glibc
import HomeFeed
import Migrations
import StoreFigures
import StoreJobs
import Synchronization

@testable import DurableJobs
@testable import EntityStore

/// A machine of a simulation: its store, and its link to the hub if there is one.
struct Machine {
  let store: Store
  let link: HubLink?
}

/// The things that all processes of a simulation share: the store, the clock, the network, and the
/// model of what must be true.
///
/// With a hub each process has a machine of its own, and the operator another one, which is never
/// cut off.
final class World: Sendable {
  let clock = VirtualClock()
  let chance: Chance
  let trace: Trace
  let network: Network
  let hub: SimulatedHub?
  /// The machines of the processes: without a hub all the same one.
  let machines: [Machine]
  /// The store of the operator.
  let store: Store
  let jobs = Mutex(JobModels())
  /// The runners whose processes live.
  let alive = Mutex<Set<Int64>>([])
  /// The elapsed time until which other machines may see a runner in its former state.
  let uncertain = Mutex<[Int64: Int]>([:])
  private let isFull = Mutex(false)
  /// The seconds between two times of each schedule, by its number.
  let periods = Mutex<[Int64: Int]>([:])

  /// - Parameter folder: The folder of the new store.
  init(seed: UInt64, hasHub: Bool, folder: String) throws {
    chance = Chance(seed: seed)
    trace = Trace(clock: clock, folder: folder)
    network = Network(clock: clock, chance: chance, trace: trace)
    let hub = hasHub ? SimulatedHub(clock: clock) : nil
    self.hub = hub
    let clock = clock
    func machine(_ number: Int) throws -> Machine {
      let link = hub.map { HubLink(number, of: $0) }
      var options = Store.Options()
      options.flushesCommits = false
      options.commitDuration = .zero
      options.mapSize = 1 << 30
      options.now = { clock.now }
      if let link {
        options.commitLog = link
        options.sharedLocks = link
      }
      let store = try Store.open(
        at: "\(folder)/\(number)", migrations: [.homeFeed, .feeds, .jobs, .figures],
        migrate: .ifEmpty, options: options)
      return Machine(store: store, link: link)
    }
    let own = try machine(2)
    store = own.store
    machines = try hasHub ? [machine(0), machine(1)] : [own, own]
  }

  var now: Moment { network.now }

  var isDiskFull: Bool {
    get { isFull.withLock { $0 } }
    set {
      isFull.withLock { $0 = newValue }
      network.setDisk(full: newValue)
    }
  }

  /// Hands jobs to the model that were enqueued since the last call.
  func adopt() throws {
    try store.catchUp()
    let last = jobs.withLock(\.lastNumber)
    let records = try store.read { transaction -> [JobRecord] in
      let rows = try JobRows(reading: transaction)
      let newest = try transaction.lastNumber(of: rows.jobs) ?? 0
      guard newest > last else { return [] }
      return try (last + 1...newest).compactMap { try rows.job(JobID(rawValue: $0)) }
    }
    for record in records {
      let job = try JobModel(record, now: now, clock)
      let wall = job.due.wall.timeIntervalSince1970
      trace.add("new job \(job.id) \(job.kind) schedule \(job.schedule ?? 0) at \(wall)")
      let period = job.schedule.flatMap { schedule in periods.withLock { $0[schedule] } }
      let now = self.now
      try jobs.withLock { try $0.adopt(job, period: period, at: now) }
      if let feed = job.feed { try checkIsActive(feed) }
    }
  }

  private func checkIsActive(_ number: Int64) throws {
    let models = network.models
    guard let index = models.index(number: number), models.feeds[index].isActive else {
      throw Violation("a sync of feed \(number) was enqueued, which is not active")
    }
  }
}

extension JobModel {
  fileprivate init(_ record: JobRecord, now: Moment, _ clock: VirtualClock) throws {
    let isSync = record.kind == SyncFeed.kind
    let feed = isSync ? try JSONDecoder().decode(SyncFeed.self, from: record.payload).feed : nil
    self.init(
      id: record.id.rawValue, kind: record.kind.rawValue, feed: feed, schedule: record.schedule,
      limitKey: record.limitKey, limitMax: Int(record.limitMax),
      attemptsMax: Int(record.attemptsMax), rescuesMax: Int(record.rescuesMax),
      retention: record.retention,
      due: Moment(elapsed: clock.elapsed(at: record.runAt), wall: record.runAt),
      isCalendar: true, setBack: 0)
  }
}

/// A disk without room: the system refuses every write of this process beyond the meta pages of
/// the store, so that commits fail with the store's own error and lock files can be written.
enum FullDisk {
  static func set(_ isFull: Bool) throws {
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { throw Violation("getrlimit: \(errno)") }
    limit.rlim_cur = isFull ? 8_192 : limit.rlim_max
    guard setrlimit(resource, &limit) == 0 else { throw Violation("setrlimit: \(errno)") }
  }
}
