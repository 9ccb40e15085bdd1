import ArgumentParser
import Console
import FeedSync
import Foundation
import WorkerService

/// The options that say how a feed is requested: its secrets and limits.
struct FeedRequestOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A file whose first line is sent as a bearer token.", valueName: "file"),
    completion: .file())
  var tokenFile: String?
  @Option(
    help: ArgumentHelp(
      "A credential of systemd whose first line is sent as a bearer token.",
      discussion: "It is read from $CREDENTIALS_DIRECTORY at each request.", valueName: "name"))
  var credential: String?
  @Option(
    help: ArgumentHelp(
      "A file whose first line is user:password, for basic authentication.", valueName: "file"),
    completion: .file())
  var passwordFile: String?
  @Option(
    help: ArgumentHelp("The same in a credential of systemd.", valueName: "name"))
  var passwordCredential: String?
  @Option(
    help: ArgumentHelp(
      "A file with further request headers, one \"Name: value\" in each line.",
      discussion: """
        Empty lines and lines that begin with # are skipped. Secrets are read from their files at \
        each request, and are sent to the server of the feed's URL only.
        """, valueName: "file"),
    completion: .file())
  var headerFile: String?
  @Option(
    help: ArgumentHelp("The same in a credential of systemd.", valueName: "name"))
  var headerCredential: String?
  @Option(
    help: ArgumentHelp(
      "The largest page, 1k to 1G after decompression; default is 32M.",
      discussion: "A page is in memory several times over while it is read.",
      valueName: "size"))
  var sizeLimit: String?
  @Option(
    help: ArgumentHelp(
      "The time for one request, 1s to 1h; default is 60s.",
      discussion: "With a limit of its own, a feed may also send slowly until then.",
      valueName: "time"))
  var timeLimit: String?

  func validate() throws {
    try Self.refuse([
      ("--token-file", tokenFile), ("--credential", credential),
      ("--password-file", passwordFile), ("--password-credential", passwordCredential),
    ])
    try Self.refuse([("--header-file", headerFile), ("--header-credential", headerCredential)])
    _ = try (sizeChange, timeChange)
  }

  /// - Throws: `ValidationError` if more than one is given.
  private static func refuse(_ options: [(name: String, value: String?)]) throws {
    let given = options.filter { $0.value != nil }.map(\.name)
    guard given.count > 1 else { return }
    throw ValidationError("\(given[0]) does not go with \(given[1]); leave one out")
  }

  /// Sets the secrets and limits of a feed.
  func apply(to settings: inout Feeds.Settings) throws {
    settings.secrets = secrets
    (settings.sizeLimit, settings.timeLimit) = try (sizeChange, timeChange)
  }

  var secrets: [FeedSecret] {
    [
      (FeedSecret.Kind.bearer, tokenFile, credential),
      (.basic, passwordFile, passwordCredential), (.headers, headerFile, headerCredential),
    ].compactMap { kind, file, name in
      // A later sync may run in another folder.
      if let file { return FeedSecret(kind, .file(URL(fileURLWithPath: file).path)) }
      return name.map { FeedSecret(kind, .credential($0)) }
    }
  }

  /// The options as they are typed.
  var words: [String] {
    [
      ("--token-file", tokenFile), ("--credential", credential),
      ("--password-file", passwordFile), ("--password-credential", passwordCredential),
      ("--header-file", headerFile), ("--header-credential", headerCredential),
      ("--size-limit", sizeLimit), ("--time-limit", timeLimit),
    ].flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  // MARK: Limits

  private static let defaultWord = "default"

  private var sizeChange: Feeds.Settings.Change? {
    get throws {
      try sizeLimit.map { text in
        if text == Self.defaultWord { return .reset }
        guard let bytes = StoreOptions.bytes(text).map(Int64.init),
          Feeds.Settings.sizeLimits.contains(bytes)
        else {
          throw ValidationError(
            "--size-limit takes 1k to 1G, such as 100M, or default; not \"\(text)\"")
        }
        return .set(bytes)
      }
    }
  }

  private var timeChange: Feeds.Settings.Change? {
    get throws {
      try timeLimit.map { text in
        if text == Self.defaultWord { return .reset }
        guard let time = TimeText.duration(text)?.components, time.attoseconds == 0,
          Feeds.Settings.timeLimits.contains(time.seconds)
        else {
          throw ValidationError(
            "--time-limit takes 1s to 1h, such as 5m, or default; not \"\(text)\"")
        }
        return .set(time.seconds)
      }
    }
  }
}
