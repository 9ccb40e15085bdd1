import Foundation
import Mooring
import SystemSupport

@testable import EntityStore
@testable import LMDB

/// Opens a store whose commit log has the input as its next entry. The entry is applied as a whole,
/// or it is refused with an error and changes nothing; the pages stay sound, and what was applied
/// can be read or gives an error.
@_cdecl("fuzz_hub_entry")
public func fuzzHubEntry(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  SampleStore.with(fixture.sample.bytes) { folder in
    var options = SampleStore.options
    options.commitLog = OneEntryLog(input)
    if let store = SampleStore.open(folder, options) {
      _ = SampleStore.isReadable(store)
      _ = unlessRefused { try store.checkIntegrity() }
      store.close()
    }
    do {
      guard try PageFile.verify(folder: folder).problemsTotal == 0 else {
        fatalError("an entry has damaged pages")
      }
      let (position, digest) = try state(folder)
      guard position.sequence == 1 || digest == fixture.digest else {
        fatalError("an entry was refused, and has changed the store")
      }
    } catch {
      fatalError("the trees cannot be read: \(error)")
    }
  }
}

private let fixture = Fixture()

private struct Fixture {
  let sample = SampleStore { try $0.beginLog(OneEntryLog.identity) }
  let digest: UInt128

  init() {
    do {
      digest = try SampleStore.with(sample.bytes) { try state($0) }.digest
    } catch {
      fatalError("no digest: \(error)")
    }
  }
}

private func state(_ folder: String) throws -> (position: LogPosition, digest: UInt128) {
  let environment = try Environment.open(
    at: folder, options: Environment.Options(mapSize: 16 << 20, access: .readOnly))
  return try environment.read { transaction in
    guard let position = try environment.logPosition(in: transaction) else {
      fatalError("the position in the log is gone")
    }
    return (position, try environment.digest(in: transaction))
  }
}

/// A log with one entry. Before each part of the input there are two bytes with its size; the last
/// part has the rest.
private final class OneEntryLog: CommitLog {
  static let identity: UInt128 = 1

  let hub = OneEntryLog.identity
  let machineName = "fuzz"
  private let parts: [LogPart]

  init(_ input: [UInt8]) {
    var parts: [[UInt8]] = []
    var rest = input[...]
    repeat {
      let count = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(2)
      parts.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    } while !rest.isEmpty
    var chain: UInt128 = 0
    self.parts = parts.enumerated().map { number, bytes in
      chain = bytes.withUnsafeBytes { LogPosition.chain(chain, after: $0) }
      let isLast = number == parts.count - 1
      return LogPart(sequence: 1, bytes: bytes, chain: isLast ? chain : nil)
    }
  }

  func beginTurn(after position: LogPosition, within limit: Duration) throws -> any LogTurn {
    throw StorageError(.unreachable, "the log is read only", advice: "write to another one")
  }

  func tail(after position: LogPosition) throws -> any LogTail {
    Tail(position.sequence == 0 ? parts : [])
  }

  private final class Tail: LogTail {
    private var parts: ArraySlice<LogPart>
    init(_ parts: [LogPart]) { self.parts = parts[...] }
    func nextPart() -> LogPart? { parts.popFirst() }
  }
}
