import EntityStore
import FeedSync
import Foundation
import HTTPClient
import HomeFeed
import Migrations

/// Commands on a store with feeds, and on the network.
///
/// - Returns: `false` if the command is not one of them.
func runSyncCommand(_ arguments: [String]) async throws -> Bool {
  switch (arguments.first, arguments.count) {
  case ("sync-feed", 3): try await syncFeed(folder: arguments[1], url: arguments[2])
  case ("fetch-url", 4):
    try await fetch(arguments[2], small: arguments[1], bytesMax: Int(arguments[3]) ?? 0)
  default: return false
  }
  return true
}

private func syncFeed(folder: String, url: String) async throws {
  let store = try Store.open(at: folder, migrations: [.homeFeed, .feeds])
  let engine = SyncEngine(store: store, transport: try CurlTransport())
  let report = try await engine.sync(try Feeds(store).find(url).id)
  say("synced \(report.items) \(report.isResumed)")
}

/// Prints the result of a request, and the largest growth of the process in bytes.
private func fetch(_ url: String, small: String, bytesMax: Int) async throws {
  let transport = try CurlTransport()
  // Libraries are loaded and connections are opened before it counts.
  _ = try await transport.send(HTTPRequest(url: small))
  let before = try residentBytes("VmRSS:")
  try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
  var ending = "whole"
  do {
    _ = try await transport.send(HTTPRequest(url: url, decodedBytesMax: bytesMax))
  } catch let error as HTTPError {
    ending = error.code.rawValue
  }
  say("\(ending) \(max(0, try residentBytes("VmHWM:") - before))")
}

private func residentBytes(_ name: String) throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0)
    << 10
}
