import Foundation
import Maintenance
import Synchronization

@testable import DurableJobs
@testable import EntityStore

/// Weeks of one store: a worker, a second runner, their operator, their network, and what goes
/// wrong. Everything follows from the seed.
@Stage final class Simulation {
  /// An event besides the steps of the processes.
  private enum Event: Int, CaseIterable {
    case kill, dieAfterCommit, stop, clockStep, fillDisk, emptyDisk, act, check
  }

  private static let hour = 3_600_000
  private static let week = 168 * hour
  /// The time at the end without faults, in which everything must come to its end.
  private static let calm = 12 * hour

  let world: World
  private let length: Int
  private var processes: [SimulatedProcess?] = [nil, nil]
  /// The times at which missing processes are started.
  private var boots = [0, 500]
  private var events: [Event: Int] = [:]
  private var calmSince = 0
  private var transaction = 0
  private(set) var steps = 0

  init(seed: UInt64, weeks: Int, folder: String) throws {
    world = try World(seed: seed, folder: folder)
    length = weeks * Self.week
  }

  /// - Throws: `Violation`, or an error that the program should not have met.
  func run() async throws {
    try await Scenario.build(world)
    for event in Event.allCases where event != .emptyDisk { plan(event) }
    while try await step() {}
    try await finish()
  }

  // MARK: Steps

  /// Performs the next thing that happens.
  ///
  /// - Returns: False at the end of the simulation.
  private func step() async throws -> Bool {
    let (clock, chance) = (world.clock, world.chance)
    let event = events.min { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }
    let slots = processes.indices.map { processes[$0]?.wakeAt ?? boots[$0] }
    let time = min(event?.value ?? .max, slots.min() ?? .max)
    guard time < length else { return false }
    steps += 1
    clock.advance(to: time)
    var actor: Int?
    if let event, event.value <= time {
      events[event.key] = nil
      try await happen(event.key)
    } else {
      let due = slots.indices.filter { slots[$0] <= time }
      let slot = chance.pick(due)
      actor = slot
      try await run(slot)
    }
    try world.adopt()
    if let violation = world.network.violation { throw violation }
    try notice(exceptBy: actor)
    return true
  }

  private func run(_ slot: Int) async throws {
    guard let process = processes[slot] else { return try await boot(slot) }
    do {
      try await process.step()
    } catch is SimulatedProcess.Died {
      world.trace.add("runner \(process.epoch) dies after its commit")
      try await process.die()
    }
    if process.hasLeft { remove(slot) }
  }

  private func boot(_ slot: Int) async throws {
    do {
      let process = try await SimulatedProcess(world, isWorker: slot == 0)
      world.trace.add("runner \(process.epoch) begins in slot \(slot)")
      world.alive.withLock { _ = $0.insert(process.epoch) }
      processes[slot] = process
      disturb()
    } catch let error as StoreError where error.passes {
      boots[slot] = world.clock.elapsed + 2_000
    }
  }

  private func remove(_ slot: Int) {
    guard let process = processes[slot] else { return }
    world.trace.add("runner \(process.epoch) is gone")
    world.alive.withLock { _ = $0.remove(process.epoch) }
    processes[slot] = nil
    boots[slot] = world.clock.elapsed + world.chance.wait(mean: 60_000)
    disturb()
  }

  /// Wakes the processes after a commit of another one.
  private func notice(exceptBy actor: Int?) throws {
    let now = try world.store.read { $0.number }
    guard now != transaction else { return }
    transaction = now
    for slot in processes.indices where slot != actor {
      processes[slot]?.wake(after: world.chance.number(0...5))
    }
    if let actor { processes[actor]?.wake(after: 1) }
  }

  private func disturb() { calmSince = world.clock.elapsed }

  // MARK: What goes wrong

  private func plan(_ event: Event) {
    let mean: Int =
      switch event {
      case .kill: 8 * Self.hour
      case .dieAfterCommit, .stop: 16 * Self.hour
      case .clockStep: 20 * Self.hour
      case .fillDisk: 24 * Self.hour
      case .emptyDisk: 10 * 60_000
      case .act: 15 * 60_000
      case .check: 20 * 60_000
      }
    events[event] = world.clock.elapsed + world.chance.wait(mean: mean)
  }

  private func happen(_ event: Event) async throws {
    let slot = world.chance.number(0...1)
    if event != .fillDisk { plan(event) }
    switch event {
    case .kill:
      world.trace.add("kill slot \(slot)")
      try await processes[slot]?.die()
      remove(slot)
    case .dieAfterCommit: processes[slot]?.diesAfterCommit = true
    case .stop:
      world.trace.add("stop slot \(slot)")
      processes[slot]?.stop()
    case .clockStep: stepClock()
    case .fillDisk: try fillDisk(true)
    case .emptyDisk: try fillDisk(false)
    case .act: try await Operator(world: world).act()
    case .check:
      if !world.isDiskFull { try StatusCheck(world: world, calmSince: calmSince).run() }
    }
  }

  private func fillDisk(_ isFull: Bool) throws {
    world.trace.add(isFull ? "the disk is full" : "the disk has room")
    world.isDiskFull = isFull
    try FullDisk.set(isFull)
    events[.emptyDisk] = nil
    plan(isFull ? .emptyDisk : .fillDisk)
    disturb()
  }

  private func stepClock() {
    let most = world.chance.pick([3_000, 60_000, Self.hour, 6 * Self.hour, 48 * Self.hour])
    let size = world.chance.number(-most...most)
    world.trace.add("the clock is set by \(size) ms")
    world.clock.step(by: size)
    let now = world.clock.elapsed
    world.network.change { models in
      models.lastStep = now
      models.setBack += max(0, -size)
    }
    world.jobs.withLock { $0.clockWasSetBack(by: max(0, -size)) }
    // Times of the calendar are noticed at once, others when the longest sleep ends.
    for process in processes {
      process?.wake(after: size > 0 ? 0 : world.chance.number(0...30_000))
    }
    disturb()
  }

  // MARK: The end

  /// Lets everything come to its end without faults, and checks the store.
  private func finish() async throws {
    world.trace.add("the calm at the end")
    events = [:]
    try fillDisk(false)
    events = [:]
    world.network.heal()
    let end = world.clock.elapsed + Self.calm
    while world.clock.elapsed < end, try await stepWithoutFaults(until: end) {}
    try StatusCheck(world: world, calmSince: calmSince).run()
    for process in processes { try await process?.die() }
    let report = try world.store.checkIntegrity()
    guard report.isClean else { throw Violation("the store is damaged: \(report.problems)") }
    let jobs = try JobQueue(world.store).check()
    guard jobs.isClean else { throw Violation("the jobs are damaged: \(jobs.problems)") }
    world.store.close()
  }

  private func stepWithoutFaults(until end: Int) async throws -> Bool {
    for process in processes { process?.diesAfterCommit = false }
    let slots = processes.indices.map { processes[$0]?.wakeAt ?? boots[$0] }
    guard let time = slots.min(), time < end else { return false }
    world.clock.advance(to: time)
    guard let slot = slots.firstIndex(of: time) else { return false }
    steps += 1
    try await run(slot)
    try world.adopt()
    if let violation = world.network.violation { throw violation }
    try notice(exceptBy: slot)
    return true
  }
}
