import EntityModel
import EntityObjects
import EntityStore
import Glibc
import Migrations
import TestSupport

/// Commands that commit for observers, or observe.
///
/// - Returns: `false` if the command is not one of them.
func runObservationCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("observation-") else { return false }
  let folder = arguments[1]
  switch arguments[0] {
  case "observation-commit": try await commit(folder)
  case "observation-follow": try await follow(folder, isPrivileged: arguments.count == 2)
  case "observation-churn":
    try churn(folder, times: arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0)
  case "observation-league":
    try await changeLeague(folder, seed: UInt64(arguments[2]) ?? 0)
  case "observation-results":
    try await observeResults(folder, updates: Int(arguments[2]) ?? 0)
  default: return false
  }
  return true
}

/// For each line `n`: changes a league in `n` commits.
private func changeLeague(_ folder: String, seed: UInt64) async throws {
  let store = try openStore(at: folder, migrations: [.league], migrate: .never)
  var random = SeededRandom(seed: seed)
  say("ready")
  while let line = readLine(), let times = Int(line) {
    for _ in 0..<times {
      random = try await store.write(author: "child") { [random] transaction in
        var random = random
        try League.change(transaction, using: &random)
        return random
      }
    }
    say("done")
  }
}

/// Observes a window of results during a number of updates, and prints its private memory in KiB
/// after a tenth of them and after all.
private func observeResults(_ folder: String, updates: Int) async throws {
  let store = try openStore(at: folder, migrations: [.league], migrate: .never)
  let ids = try await store.write { transaction in
    try (0..<200).map { number in
      try transaction.insert(
        "Team", ["name": .string("\(number)"), "zone": .string(League.zones[number % 4])])
    }
  }
  let request = FetchRequest(
    entityName: "Team", predicate: try FetchPredicate(format: "wins != 7"),
    sortBy: [SortKey("zone"), SortKey("wins")], fetchLimit: 50)
  var iterator = try store.results(of: request, sectionBy: "zone").makeAsyncIterator()
  var snapshot = try await iterator.next()?.snapshot
  var wins: Int64 = 8
  for number in 0..<updates {
    wins += 1
    // The first of the first section goes to its end, or out of the window.
    guard let first = snapshot?.first else { break }
    let id = number % 3 == 0 ? ids[number % ids.count] : first.id
    try await store.write { [wins] transaction in
      try transaction.update(first.id) { try $0.set("wins", to: .int64(wins)) }
      try transaction.update(id) { try $0.set("motto", to: .string("\(wins)")) }
    }
    snapshot = try await iterator.next()?.snapshot
    if number == updates / 10 { say("begun \(ownMemory())") }
  }
  say("ended \(ownMemory()) \(snapshot?.count ?? 0)")
}

/// For each line `n`: commits `n` times, and prints the number and its private memory in KiB. It
/// observes as well, but never reads its notifications.
private func commit(_ folder: String) async throws {
  let store = try openStore(at: folder, migrate: .never)
  let observation = try store.commits.observe()
  let id = try await store.write { try $0.insert("Sample", ["name": .string("of \(getpid())")]) }
  var rank: Int64 = 0
  say("ready")
  while let line = readLine(), let times = Int(line) {
    for _ in 0..<times {
      rank += 1
      try await store.write { [rank] transaction in
        try transaction.update(id) { try $0.set("rank", to: .int64(rank)) }
      }
    }
    say("committed \(times) \(ownMemory())")
  }
  withExtendedLifetime(observation) {}
}

/// Prints each commit that it is notified of, until it is killed.
private func follow(_ folder: String, isPrivileged: Bool) async throws {
  let store = try openStore(at: folder, migrate: .never)
  // Root may write everywhere.
  if !isPrivileged, geteuid() == 0, seteuid(65_534) != 0 { say("error: \(errno)") }
  let observation = try store.commits.observe()
  var commit = try await observation.next(after: 0)
  say("observing")
  while true {
    commit = try await observation.next(after: commit)
    say("heard \(commit)")
  }
}

/// Begins and ends observations one after another, and prints the number of open descriptors before
/// and after.
private func churn(_ folder: String, times: Int) throws {
  let store = try openStore(at: folder, migrate: .never)
  // Dispatch opens its own at the first use.
  for _ in 0..<10 { _ = try store.commits.observe() }
  let before = openDescriptors(atMost: 0)
  for _ in 0..<times { _ = try store.commits.observe() }
  say("descriptors \(before) \(openDescriptors(atMost: before))")
}

/// The number of open descriptors. Dispatch closes those of sources a little later, which is waited
/// for a while.
private func openDescriptors(atMost limit: Int) -> Int {
  var last = Int.max
  var sameTimes = 0
  for _ in 0..<5_000 where sameTimes < 50 {
    var count = 0
    for descriptor in 0..<Int32(1_024) where fcntl(descriptor, F_GETFD) >= 0 { count += 1 }
    if count <= limit { return count }
    sameTimes = count == last ? sameTimes + 1 : 0
    last = count
    usleep(2_000)
  }
  return last
}

/// KiB of memory that belongs to no file.
func ownMemory() -> Int {
  guard let file = fopen("/proc/self/status", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, 256, file) != nil {
    let text = line.withUnsafeBufferPointer { line in
      String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard text.hasPrefix("RssAnon:") else { continue }
    return Int(text.split(separator: " ").dropLast().last ?? "") ?? 0
  }
  return 0
}
