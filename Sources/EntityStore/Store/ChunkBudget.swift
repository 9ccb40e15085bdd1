import Dispatch

/// The room that is left in a chunk: a part of long work that commits by itself.
///
/// A chunk ends at the limit that is reached first: the number of rows, their size, or the time
/// since the budget was created. So other writers wait little, and memory stays bounded. Ask for
/// `hasRoom` after each row and not before the first, and each chunk makes progress.
public struct ChunkBudget: Sendable {
  /// The rows that were counted.
  public private(set) var rows = 0
  private var bytes = 0
  private var rowsMax: Int
  private var bytesMax: Int
  /// The end by `DispatchTime`, whose values are compared without a call.
  private var deadline: UInt64
  /// The limits of one chunk.
  private let limits: (rows: Int?, bytes: Int?, duration: Duration?)
  /// False if the next row is not available yet.
  private(set) var hasNext = true

  /// Begins a chunk now. A limit that is `nil` does not exist.
  public init(rowsMax: Int? = nil, bytesMax: Int? = nil, duration: Duration? = nil) {
    limits = (rowsMax, bytesMax, duration)
    self.rowsMax = rowsMax ?? .max
    self.bytesMax = bytesMax ?? .max
    deadline = Self.end(after: duration)
  }

  private static func end(after duration: Duration?) -> UInt64 {
    duration.map { (DispatchTime.now() + $0 / .seconds(1)).uptimeNanoseconds } ?? .max
  }

  /// Begins another chunk now, which the same commit contains: ``rows`` counts on.
  mutating func extend() {
    if let limit = limits.rows { rowsMax = rows + limit }
    if let limit = limits.bytes { bytesMax = bytes + limit }
    deadline = Self.end(after: limits.duration)
  }

  /// Counts rows that were written.
  public mutating func add(rows: Int, bytes: Int = 0) {
    self.rows += rows
    self.bytes += bytes
  }

  /// Ends the chunk early, because the next row is not available yet.
  public mutating func end() {
    rowsMax = rows
    hasNext = false
  }

  /// True while another row may be added. Reads the clock only if the time is limited.
  public var hasRoom: Bool {
    guard rows < rowsMax, bytes < bytesMax else { return false }
    return deadline == .max || DispatchTime.now().uptimeNanoseconds < deadline
  }
}
