import EntityModel
import EntityStore
import Foundation
import TestSupport

@testable import DurableJobs

/// Draws the steps of a history from the state of the model.
struct JobHistory {
  static let kinds: [JobKind] = ["a", "b", "c"]
  static let queues: [QueueName] = ["default", "other"]

  var random: SeededRandom
  /// Claims that were given out, the stale ones among them.
  private(set) var claims: [Claim] = []
  private var epochs: [Int64] = [1, 2, 3]
  private var nextEpoch: Int64 = 4
  private var progress: [Claim: Int64] = [:]

  init(random: SeededRandom) { self.random = random }

  mutating func next(_ model: JobModel) -> HistoryStep {
    switch random.number(0...99) {
    case 0..<24: return .enqueue(request(model), group: random.oneIn(4) ? group(model) : nil)
    case 24..<28:
      let requests = (0..<random.number(0...4)).map { _ in request(model) }
      return .group(requests, completion: random.oneIn(4) ? nil : request(model))
    case 28..<30: return .openGroup(completion: random.oneIn(3) ? nil : request(model))
    case 30..<33: return .closeGroup(group(model))
    case 33..<67: return exchange(model)
    case 67..<71: return claim().map { .checkpoint($0) } ?? .prune
    case 71..<75: return claim().map { .complete($0) } ?? .prune
    case 75..<79: return rescue()
    case 79..<83: return .cancel(job(model))
    case 83..<86: return .retry(job(model))
    case 86..<90: return .setPaused(random.oneIn(2), random.pick(Self.queues))
    case 90..<92: return .prune
    default: return .advance(seconds: random.oneIn(4) ? -3_600 : Double(random.number(1...2_000)))
    }
  }

  /// Records the claims that a runner got.
  mutating func note(_ claimed: [Int64], _ model: JobModel) {
    for id in claimed {
      guard let job = model.jobs[id], let epoch = job.epoch else { continue }
      claims.append(Claim(job: JobID(rawValue: id), epoch: epoch, number: job.claims))
    }
  }

  // MARK: Drawing

  private mutating func request(_ model: JobModel) -> JobRequest {
    var request = JobRequest(
      kind: random.pick(Self.kinds), payload: Data("\(random.number(0...9))".utf8))
    request.queue = random.pick(Self.queues)
    request.priority = random.number(-1...1)
    if random.oneIn(4) {
      request.runAt = model.now.addingTimeInterval(Double(random.number(-10...600)))
    }
    request.attemptsMax = random.number(1...3)
    request.rescuesMax = random.number(0...2)
    request.retention = .seconds(random.pick([0, 60, 3_000]))
    if random.oneIn(3) {
      request.uniqueKey = random.pick(["x", "y", "z"])
      request.uniqueness = random.pick([.untilStarted, .untilFinished, .untilRemoved])
      request.onConflict = random.oneIn(2) ? .keep : .replace
    }
    if random.oneIn(3) {
      let max = random.number(1...3)
      request.limit = JobLimit("limit \(max)", max: max)
    }
    return request
  }

  private mutating func exchange(_ model: JobModel) -> HistoryStep {
    var ended: [(Claim, Outcome)] = []
    for _ in 0..<random.number(0...3) {
      if let claim = claim() { ended.append((claim, outcome())) }
    }
    var progress: [(Claim, JobProgress)] = []
    if random.oneIn(3), let claim = claim() {
      let done = (self.progress[claim] ?? 0) + Int64(random.number(0...9))
      self.progress[claim] = done
      progress.append((claim, JobProgress(done: done, total: nil, note: nil)))
    }
    var terms = ClaimTerms(
      epoch: random.pick(epochs), count: random.number(0...4),
      kinds: Set(Self.kinds.filter { _ in !random.oneIn(4) }))
    terms.admitsSuspect = random.oneIn(2)
    if random.oneIn(3) { terms.queueRoom[random.pick(Self.queues)] = random.number(0...2) }
    return .exchange(ended: ended, progress: progress, terms)
  }

  private mutating func outcome() -> Outcome {
    switch random.number(0...9) {
    case 0..<3: .succeeded(nil)
    case 3..<6: .failed("broken", wait: .seconds(random.number(0...300)))
    case 6: .discarded("hopeless")
    case 7: .snoozed(.seconds(random.number(0...300)), random.oneIn(2) ? "full" : nil)
    case 8: .cancelled
    default: .handedBack
    }
  }

  /// Mostly one of the newest.
  private mutating func claim() -> Claim? {
    if claims.isEmpty { return nil }
    return random.oneIn(5) ? random.pick(claims) : random.pick(claims.suffix(6))
  }

  /// A runner dies, and another one with a new epoch takes its place.
  private mutating func rescue() -> HistoryStep {
    let place = random.number(0...epochs.count - 1)
    defer {
      epochs[place] = nextEpoch
      nextEpoch += 1
    }
    return .rescue(epoch: epochs[place], wasStopping: random.oneIn(3))
  }

  private mutating func group(_ model: JobModel) -> Int64 {
    let known = model.groups.keys.sorted()
    return known.isEmpty || random.oneIn(20) ? 999_999 : random.pick(known.suffix(4))
  }

  private mutating func job(_ model: JobModel) -> JobID {
    let known = model.jobs.keys.sorted()
    return JobID(rawValue: known.isEmpty || random.oneIn(20) ? 999_999 : random.pick(known))
  }
}
