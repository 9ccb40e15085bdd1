package import EntityStore
import Foundation
import LMDB
import PostgreSQL
import SystemSupport

/// The comparison of the stores of all machines at one entry of the log.
package struct DigestReport: Codable, Hashable, Sendable {
  package struct Machine: Codable, Hashable, Sendable {
    package let name: String
    /// The hash of everything that the machine has, in hexadecimal; `nil` if it did not answer.
    package let digest: String?
    package let isEqual: Bool
  }

  /// The entry at which the stores were compared.
  package let entry: UInt64
  package let machines: [Machine]

  /// True if every machine that has answered has the same.
  package var isEqual: Bool { machines.allSatisfy { $0.isEqual || $0.digest == nil } }
}

/// A request to compare the stores at an entry. Each has a number of its own, so that no answer to
/// an earlier one counts.
struct DigestRequest: Equatable, Sendable {
  let entry: UInt64
  let number: UUID

  init(at entry: UInt64) {
    self.entry = entry
    number = UUID()
  }

  /// Reads the text of a request.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let entry = UInt64(words[0]),
      let number = UUID(uuidString: String(words[1]))
    else { return nil }
    self.entry = entry
    self.number = number
  }

  var text: String { "\(entry) \(number)" }
}

extension HubCommitLog {
  /// The longest wait for the answers of the other machines. Nobody writes in this time.
  private static let digestWaitMax = Duration.seconds(8)
  private static let digestPause: UInt32 = 200_000
  /// The longest time in which this machine reads all that it has.
  private static let digestMax = Duration.seconds(60)

  /// Compares the stores of all machines at one entry. The machines with a worker answer; nobody
  /// writes until they have.
  ///
  /// - Parameter store: The store of this machine, opened with this log.
  /// - Throws: `StorageError` with `.busy` if another machine does not end its turn,
  ///   `.unreachable`; the errors of `Store.catchUp`.
  package func compareDigests(_ store: Store) throws -> DigestReport {
    let (turn, own) = try turnAtHead(of: store)
    defer { turn.giveUp() }
    let entry = own.position.sequence
    let request = DigestRequest(at: entry)
    var session = try HubSession(address.database)
    try session.requestDigest(request, of: address.hub)
    try session.answer(request, own.digest, of: address.membership)
    let deadline = ContinuousClock.now + Self.digestWaitMax
    while true {
      let (report, isComplete) = try session.digests(at: entry, own.digest, of: address.hub)
      if isComplete || ContinuousClock.now >= deadline { return report }
      usleep(Self.digestPause)
      try turn.keepAlive(for: Self.digestWaitMax)
    }
  }

  /// Takes a turn in which the store has all entries.
  private func turnAtHead(
    of store: Store
  ) throws -> (HubTurn, (position: LogPosition, digest: UInt128)) {
    while true {
      try store.catchUp()
      guard let position = try store.logPosition else {
        throw StorageError(
          .programming, "the store has no commit log", advice: "join it to a hub first")
      }
      let turn = try beginTurn(after: position, within: store.options.writerDeadline)
      do {
        if let turn = turn as? HubTurn, turn.head == position {
          try turn.keepAlive(for: Self.digestMax)
          if let own = try store.digest(), own.position == position { return (turn, own) }
        }
      } catch {
        turn.giveUp()
        throw error
      }
      turn.giveUp()
    }
  }
}

extension HubSession {
  /// The time after which a machine without a sign of life is not waited for, in seconds.
  private static let silenceMax = 30.0

  mutating func requestDigest(_ request: DigestRequest, of hub: UUID) throws(StorageError) {
    // Not in the row of the hub: its lock is the turn. The request comes first, because an answer
    // locks it, too.
    try execute([
      Statement(
        """
        INSERT INTO mooring.lock (store, name, holder, machine, until, note)
        VALUES ($1, 'digest', $1, $1, '-infinity', $2)
        ON CONFLICT (store, name) DO UPDATE SET note = excluded.note
        """, .uuid(hub), .text(request.text)),
      Statement(
        "UPDATE mooring.machine SET digest_seq = NULL, digest = NULL WHERE store = $1", .uuid(hub)),
    ])
  }

  /// Stores an answer, unless another comparison has begun since.
  mutating func answer(
    _ request: DigestRequest, _ digest: UInt128, of membership: HubMembership
  ) throws(StorageError) {
    try execute([
      Statement(
        """
        UPDATE mooring.machine SET digest_seq = $3, digest = $4
        FROM (SELECT 1 FROM mooring.lock
          WHERE store = $1 AND name = 'digest' AND note = $5 FOR SHARE) AS request
        WHERE store = $1 AND id = $2
        """, .uuid(membership.hub), .uuid(membership.machine),
        .int8(Int64(clamping: request.entry)), .bytes(digest.bytes), .text(request.text))
    ])
  }

  /// Returns the answers, and true if every machine that lives has answered.
  mutating func digests(
    at entry: UInt64, _ own: UInt128, of hub: UUID
  ) throws(StorageError) -> (DigestReport, isComplete: Bool) {
    var isComplete = true
    let machines = try rows(
      Statement(
        """
        SELECT name, CASE WHEN digest_seq = $2 THEN digest END,
          extract(epoch FROM clock_timestamp() - seen_at)::float8
        FROM mooring.machine WHERE store = $1 ORDER BY name, id
        """, .uuid(hub), .int8(Int64(clamping: entry)))
    ) { row in
      let digest = try row.chain(1)
      let isSilent = (try row.double(2) ?? 0) > Self.silenceMax
      if digest == nil, !isSilent { isComplete = false }
      return DigestReport.Machine(
        name: try row.text(0) ?? "", digest: digest.map { String($0, radix: 16) },
        isEqual: digest == own)
    }
    return (DigestReport(entry: entry, machines: machines), isComplete)
  }
}
