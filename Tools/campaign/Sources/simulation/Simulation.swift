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
    case kill, dieAfterCommit, stop, clockStep, fillDisk, emptyDisk, act, check, cut, restore
  }

  private static let hour = 3_600_000
  private static let week = 168 * hour
  /// The time at the end without faults, in which everything must come to its end.
  private static let calm = 12 * hour
  private static let withoutHub: Set<Event> = [.clockStep, .fillDisk, .emptyDisk]
  private static let withHub: Set<Event> = [.cut, .restore]

  let world: World
  private let length: Int
  private var processes: [SimulatedProcess?] = [nil, nil]
  /// The times at which missing processes are started.
  private var boots = [0, 500]
  private var events: [Event: Int] = [:]
  private var calmSince = 0
  private var transaction = 0
  private(set) var steps = 0

  /// - Parameter seed: One that is even has a hub.
  init(seed: UInt64, weeks: Int, folder: String) throws {
    world = try World(seed: seed, hasHub: seed.isMultiple(of: 2), folder: folder)
    length = weeks * Self.week
  }

  /// - Throws: `Violation`, or an error that the program should not have met.
  func run() async throws {
    try await Scenario.build(world)
    let never = world.hub == nil ? Self.withHub : Self.withoutHub
    for event in Event.allCases where !never.contains(event) { plan(event) }
    (events[.emptyDisk], events[.restore]) = (nil, nil)
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
      let process = try await SimulatedProcess(
        world, on: world.machines[slot], isWorker: slot == 0 || world.hub != nil)
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
    let now = world.clock.elapsed
    world.uncertain.withLock { $0[process.epoch] = now + SimulatedHub.patience + 1 }
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
      case .cut: 6 * Self.hour
      case .restore: world.chance.pick([5_000, 60_000, Self.hour])
      case .act: 15 * 60_000
      case .check: 20 * 60_000
      }
    events[event] = world.clock.elapsed + world.chance.wait(mean: mean)
  }

  private func happen(_ event: Event) async throws {
    let slot = world.chance.number(0...1)
    if ![.fillDisk, .cut].contains(event) { plan(event) }
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
    case .cut: cut(slot)
    case .restore: restore()
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

  /// Cuts a machine off from the hub.
  private func cut(_ slot: Int) {
    world.trace.add("machine \(slot) is cut off")
    world.machines[slot].link?.cut(true)
    if let epoch = processes[slot]?.epoch { world.uncertain.withLock { $0[epoch] = .max } }
    plan(.restore)
    disturb()
  }

  private func restore() {
    events[.restore] = nil
    plan(.cut)
    for (slot, machine) in world.machines.enumerated() where machine.link?.isCut == true {
      world.trace.add("machine \(slot) is back")
      machine.link?.cut(false)
      processes[slot]?.wake(after: 1)
    }
    let now = world.clock.elapsed
    world.uncertain.withLock { $0 = $0.mapValues { $0 == .max ? now : $0 } }
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
    try fillDisk(false)
    if world.hub != nil { restore() }
    events = [:]
    world.network.heal()
    let end = world.clock.elapsed + Self.calm
    while world.clock.elapsed < end, try await stepWithoutFaults(until: end) {}
    try StatusCheck(world: world, calmSince: calmSince).run()
    for process in processes { try await process?.die() }
    let stores = [world.store] + (world.hub == nil ? [] : world.machines.map(\.store))
    for store in stores { try check(store) }
    let digests = try stores.map { try $0.digest()?.digest }
    guard digests.allSatisfy({ $0 == digests[0] }) else {
      throw Violation("the stores of the machines differ")
    }
    for store in stores { store.close() }
  }

  private func check(_ store: Store) throws {
    try store.catchUp()
    let report = try store.checkIntegrity()
    guard report.isClean else { throw Violation("a store is damaged: \(report.problems)") }
    let jobs = try JobQueue(store).check()
    guard jobs.isClean else { throw Violation("the jobs are damaged: \(jobs.problems)") }
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
