import Console
import EntityStore
import FeedDocuments
import FeedSync
import Foundation
import HTTPClient

/// The feeds that are to be added, in their order.
struct FeedList {
  struct Entry {
    let subscription: Feeds.Subscription
    /// The line of the file; nil for an argument.
    let line: Int?

    var url: String { subscription.url }
  }

  private static let bytesMax = 64 << 20

  private(set) var entries: [Entry]
  /// The file as messages name it.
  private let name: String
  /// The outlines of an OPML file that are no feeds.
  private var skipped = 0

  init(_ arguments: [String], file: String?) throws {
    entries = arguments.map { Entry(subscription: .init($0), line: nil) }
    name = Self.name(of: file ?? "")
    guard let file else { return }
    let text = try ConfigurationFile("list of feeds", bytesMax: Self.bytesMax)
      .text(of: file, takesInput: true, advice: "name a file, or - for standard input")
    let mark: Unicode.Scalar = "\u{FEFF}"
    let lines = text.unicodeScalars.drop { $0 == mark }
      .split(separator: "\n", omittingEmptySubsequences: false)
    for (index, scalars) in lines.enumerated() {
      let line = String(scalars).trimmingCharacters(in: .whitespacesAndNewlines)
      if line.isEmpty || line.hasPrefix("#") { continue }
      entries.append(Entry(subscription: .init(line), line: index + 1))
    }
  }

  /// Reads the feeds of an OPML file.
  ///
  /// - Throws: `CommandError` for a file that cannot be read, or is no OPML.
  init(opml file: String) throws {
    name = Self.name(of: file)
    entries = []
    let bytes = try ConfigurationFile("OPML file", bytesMax: Self.bytesMax)
      .bytes(of: file, takesInput: true, advice: "name a file, or - for standard input")
    do throws(OPMLError) {
      let document = try OPMLDocument(reading: bytes)
      entries = document.feeds.map { feed in
        let subscription = Feeds.Subscription(
          feed.url, title: feed.title, folder: feed.folder, categories: feed.categories)
        return Entry(subscription: subscription, line: feed.line)
      }
      skipped = document.skipped
    } catch {
      let place = error.line.map { ":\($0)" } ?? ""
      throw CommandError(.badData, "\(name)\(place): \(error)")
    }
  }

  private static func name(of file: String) -> String {
    file == "-" ? "standard input" : file
  }

  /// Adds the feeds, and reports what became of each.
  ///
  /// - Throws: `CommandError` if one was refused; the others are added.
  func add(
    to store: Store, _ settings: Feeds.Settings, isChecked: Bool, isQuiet: Bool
  ) async throws {
    warnOfOpenSecrets(settings, isQuiet: isQuiet)
    if isChecked {
      return try await CheckedAddition(store, settings, isQuiet: isQuiet).add(self)
    }
    let outcomes = try await Feeds(store).add(
      subscriptions: entries.map(\.subscription), settings)
    try report(outcomes, isQuiet: isQuiet)
  }

  /// Warns of secrets that everybody between here and the server can read.
  func warnOfOpenSecrets(_ settings: Feeds.Settings, isQuiet: Bool) {
    if isQuiet { return }
    let open = entries.map(\.url).filter { Feeds.sendsUnencrypted(settings, to: $0) }
    guard let first = open.first else { return }
    let others = open.count > 1 ? " and \(open.count - 1) more" : ""
    Message.say(
      "\(shownURL(first))\(others): the secret is sent unencrypted; use https if the server has "
        + "it")
  }

  /// Prints what became of the URLs.
  ///
  /// - Parameter outcomes: One for each entry.
  /// - Throws: `CommandError` if one was refused.
  func report(_ outcomes: [Feeds.Addition], isQuiet: Bool) throws {
    var (added, changed, repeated, refused) = (0, 0, 0, 0)
    for (entry, outcome) in zip(entries, outcomes) {
      switch outcome {
      case .added: added += 1
      case .changed: changed += 1
      case .repeated(let first):
        repeated += 1
        if !isQuiet { Message.say(place(of: entry) + "the same URL as \(text(of: first))") }
      case .refused(let error):
        refused += 1
        Message.say(place(of: entry) + "\(error)")
      }
    }
    if !isQuiet {
      let counts = [
        (added, "added"), (changed, "changed"), (repeated, "repeated"),
        (skipped, skipped == 1 ? "outline without a feed" : "outlines without a feed"),
      ]
      let parts = counts.compactMap { count, word in
        count == 0 && word != "added" ? nil : "\(Formatting.count(Int64(count))) \(word)"
      }
      Message.say("feeds: " + parts.joined(separator: ", "))
    }
    try requireNone(of: outcomes)
  }

  /// - Throws: `CommandError` if a URL was refused, with the status of the first one: bad data for
  ///   one of a file that cannot be the URL of a feed, otherwise that of its error.
  private func requireNone(of outcomes: [Feeds.Addition]) throws {
    let refused = zip(entries, outcomes).compactMap { entry, outcome in
      guard case .refused(let error) = outcome else { return nil as (Entry, ExitStatus)? }
      return (entry, (error as? any ExitStatusProviding)?.exitStatus ?? .badData)
    }
    guard let (first, status) = refused.first else { return }
    let invalid = refused.count { $0.1 == .usage }
    let again = "add \(invalid == 0 ? "them" : "the others") again later, or without a check: "
    let advice = [
      invalid == 0 ? nil : "correct those that cannot be a feed's, and add them again",
      invalid == refused.count ? nil : again + "--no-check",
    ]
    throw CommandError(
      status == .usage && first.line != nil ? .badData : status,
      "\(Formatting.count(Int64(refused.count))) of \(Formatting.count(Int64(entries.count))) "
        + "URLs were not added; " + advice.compactMap { $0 }.joined(separator: "; "))
  }

  private func place(of entry: Entry) -> String { entry.line.map { "\(name):\($0): " } ?? "" }

  private func text(of index: Int) -> String {
    entries[index].line.map { "line \($0)" } ?? "argument \(index + 1)"
  }
}
