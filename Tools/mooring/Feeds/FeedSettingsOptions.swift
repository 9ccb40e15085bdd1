import ArgumentParser
import Console
import FeedDocuments
import FeedSync
import WorkerService

/// The settings of feeds that are added.
struct FeedSettingsOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Where items go that name no kind of their own.", valueName: "entity"),
    completion: .entity)
  var into: String?
  @Option(help: ArgumentHelp("Time between scheduled runs, such as 15m.", valueName: "time"))
  var every: String?
  @OptionGroup var request: FeedRequestOptions
  @Flag(help: "Remove the feed's token, password and headers.") var noCredentials = false
  @Option(
    help: ArgumentHelp(
      "The mapping of documents to records, for formats without a built-in one.",
      discussion: "One of \(FeedMappingText.builtInNames.joined(separator: ", ")), or a file.",
      valueName: "file"), completion: .file())
  var mapping: String?
  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Whether a feed that had a public address may have a private one later.",
      discussion: """
        By default it may not: otherwise the owner of its host name could send requests into \
        your network.
        """))
  var allowPrivate: Bool?

  func validate() throws {
    if noCredentials, !request.secrets.isEmpty {
      throw ValidationError(
        "--no-credentials does not go with \(request.words[0]); leave one out")
    }
  }

  func settings() throws -> Feeds.Settings {
    var settings = Feeds.Settings(
      entity: into, every: try every.map(interval), removesSecrets: noCredentials,
      mapping: try mapping.map(FeedMappingText.init(named:)), allowsPrivateAddress: allowPrivate)
    try request.apply(to: &settings)
    return settings
  }

  private func interval(_ text: String) throws -> Duration {
    guard let time = TimeText.duration(text), time >= .seconds(1),
      time.components.attoseconds == 0, time <= .seconds(10_000 * 86_400)
    else { throw ValidationError("\"\(text)\" is no time; write 90s, 15m, 2h or 1d") }
    return time
  }
}

extension FeedMappingText {
  /// Reads a built-in mapping of that name, else the file there.
  ///
  /// - Throws: `CommandError` for a file that cannot be read. What is in it is checked later.
  fileprivate init(named name: String) throws {
    if let builtIn = FeedMappingText.builtIn(name) {
      self = builtIn
      return
    }
    let advice = "name a file, or one of " + FeedMappingText.builtInNames.joined(separator: ", ")
    let file = ConfigurationFile("mapping", bytesMax: FeedMappingText.bytesMax)
    self.init(try file.text(of: name, advice: advice), file: name)
  }
}
