import Foundation
import Mooring

/// Measures commits of one put through the hub, and pgbench with the same statements.
struct HubTurns {
  let site: HubSite
  let plan: HubPlan
  private static let machines = ["turns", "turns-2"]

  /// The rounds are interleaved, so that a slow minute of the machine affects both.
  ///
  /// - Throws: `mismatch` if the machines have different records at the end.
  func run(into results: inout Measurements) async throws {
    try await makeMachines()
    let stores = try Self.machines.map { try site.openInHub($0) }
    _ = try await turns(of: stores)
    let pgbench = try preparedPgbench()
    for round in 1...plan.rounds {
      reportProgress("hub: commits, round \(round) of \(plan.rounds)")
      let alone = try await turns(of: [stores[0]])
      let bare = try turnsOfPgbench(pgbench, clients: 1)
      results.add(alone, to: .hubTurns, of: .mooring)
      results.add(bare, to: .pgbenchTurns, of: .mooring)
      results.add(alone / bare, to: .hubShare, of: .mooring)
      let both = try await turns(of: stores)
      let bareOfTwo = try turnsOfPgbench(pgbench, clients: 2)
      results.add(both, to: .hubTurnsOfTwo, of: .mooring)
      results.add(bareOfTwo, to: .pgbenchTurnsOfTwo, of: .mooring)
      results.add(both / bareOfTwo, to: .hubShareOfTwo, of: .mooring)
    }
    try requireEqual(stores[0], stores[1])
    for store in stores { store.close() }
  }

  private func makeMachines() async throws {
    let store = try site.makeStore(Self.machines[0])
    try await store.insertOwnEpisodes(PutLoop.rows)
    store.close()
    _ = try site.createHub(Self.machines[0])
    _ = try site.join(Self.machines[1], to: Self.machines[0])
  }

  /// Returns the commits of all machines in a second. Each one commits one put after another.
  private func turns(of stores: [Store]) async throws -> Double {
    let start = ContinuousClock.now
    let end = start + plan.turn
    let count = try await withThrowingTaskGroup(of: Int.self) { group in
      for (place, store) in stores.enumerated() {
        group.addTask {
          var count = 0
          while ContinuousClock.now < end {
            try await store.setProgress(
              Double.random(in: 0..<1), of: (count * 2 + place) % PutLoop.rows + 1)
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    return Double(count) / (ContinuousClock.now - start).seconds
  }

  // MARK: pgbench

  /// Adds a hub that only pgbench uses, and writes its script.
  ///
  /// - Returns: The options of pgbench.
  private func preparedPgbench() throws -> [String] {
    let hub = UUID().uuidString
    try site.server.query(
      """
      INSERT INTO mooring.store (id, name, seq, chain, first_seq, clock, format)
      VALUES ('\(hub)', 'pgbench', 0, '\\x00', 1, 0, 1)
      """)
    let bytes = try site.server.query(
      "SELECT round(avg(length(body))) FROM mooring.entry WHERE machine IS NOT NULL")
    guard let bytes = Int(bytes), bytes > 0 else {
      throw BenchError(.mismatch, "the hub has no entries")
    }
    let script = try site.scratch.emptyFolder("pgbench").appending(path: "turn.sql").path
    try Self.script.write(toFile: script, atomically: true, encoding: .utf8)
    return [
      "--no-vacuum", "--protocol", "extended", "--file", script, "--define", "hub=\(hub)",
      "--define", "body=\\x" + String(repeating: "5a", count: bytes),
    ]
  }

  /// The statements of a turn, in its two round trips. The number of the entry comes from the
  /// hub's row, because pgbench cannot use an answer within a pipeline.
  private static let script = """
    \\startpipeline
    BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL lock_timeout = 10000;
    SET LOCAL idle_in_transaction_session_timeout = 5000;
    SELECT seq, chain, first_seq, format, clock FROM mooring.store WHERE id = :hub::uuid \
    FOR UPDATE;
    SELECT chain FROM mooring.entry WHERE store = :hub::uuid AND seq = 1 AND chain IS NOT NULL;
    SELECT seq, part, chain, body FROM mooring.entry WHERE store = :hub::uuid \
    AND (seq, part) > ((SELECT seq FROM mooring.store WHERE id = :hub::uuid), 2147483647) \
    ORDER BY seq, part LIMIT 16;
    SELECT extract(epoch FROM clock_timestamp())::float8 - 978307200;
    \\endpipeline
    \\startpipeline
    INSERT INTO mooring.entry (store, seq, part, machine, nonce, chain, body) \
    SELECT id, seq + 1, 0, id, id, '\\x00000000000000000000000000000000'::bytea, :body::bytea \
    FROM mooring.store WHERE id = :hub::uuid;
    UPDATE mooring.store SET seq = seq + 1, chain = '\\x00000000000000000000000000000000'::bytea, \
    clock = 1 WHERE id = :hub::uuid;
    COMMIT;
    \\endpipeline

    """

  private func turnsOfPgbench(_ options: [String], clients: Int) throws -> Double {
    let seconds = max(1, Int(plan.turn.seconds))
    let output = try site.server.run(
      "pgbench",
      options + ["--client", "\(clients)", "--jobs", "\(clients)", "--time", "\(seconds)"])
    guard let tps = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
      let number = tps.split(separator: " ").dropFirst(2).first.flatMap({ Double($0) })
    else { throw BenchError(.candidate, "pgbench: \(output)") }
    return number
  }
}
