/// A secret that is sent with the requests of a feed: where it is, and how it is sent.
///
/// The store has its source only. The secret itself is read at each run, is sent to the origin of
/// the feed's URL only, and is in no message, log or report.
public struct FeedSecret: Sendable, Equatable {
  /// The form in which a secret is sent.
  public enum Kind: Sendable {
    /// A token, in the Authorization header.
    case bearer
    /// A user and a password, in the Authorization header.
    case basic
    /// Headers of any other names.
    case headers
  }

  public enum Source: Sendable, Equatable {
    /// The absolute path of a file.
    case file(String)
    /// The name of a systemd credential.
    case credential(String)
  }

  public var kind: Kind
  public var source: Source

  public init(_ kind: Kind, _ source: Source) {
    self.kind = kind
    self.source = source
  }
}

/// The secrets of one feed: a token or a password, and headers.
public struct FeedSecrets: Sendable, Equatable {
  /// The token or the password.
  public private(set) var authorization: FeedSecret?
  public private(set) var headers: FeedSecret?

  public init(_ secrets: [FeedSecret] = []) {
    for secret in secrets { set(secret) }
  }

  /// Adds a secret. It replaces one of the same kind; a token and a password replace each other.
  public mutating func set(_ secret: FeedSecret) {
    if secret.kind == .headers { headers = secret } else { authorization = secret }
  }

  public var isEmpty: Bool { authorization == nil && headers == nil }

  public var all: [FeedSecret] { [authorization, headers].compactMap { $0 } }
}

// MARK: The stored form

extension FeedSecrets {
  /// Reads the attributes of a feed's record.
  init(
    tokenFile: String?, credential: String?, passwordSource: String?, headersSource: String?
  ) {
    if let credential {
      set(FeedSecret(.bearer, .credential(credential)))
    } else if let tokenFile {
      set(FeedSecret(.bearer, .file(tokenFile)))
    }
    if let source = passwordSource.flatMap(FeedSecret.Source.init(text:)) {
      set(FeedSecret(.basic, source))
    }
    if let source = headersSource.flatMap(FeedSecret.Source.init(text:)) {
      set(FeedSecret(.headers, source))
    }
  }

  var tokenFile: String? {
    if case .file(let path)? = source(of: .bearer) { path } else { nil }
  }

  var credential: String? {
    if case .credential(let name)? = source(of: .bearer) { name } else { nil }
  }

  var passwordSource: String? { source(of: .basic)?.text }
  var headersSource: String? { source(of: .headers)?.text }

  private func source(of kind: FeedSecret.Kind) -> FeedSecret.Source? {
    all.first { $0.kind == kind }?.source
  }
}

extension FeedSecret.Source {
  private static let schemes = (file: "file:", credential: "credential:")

  var text: String {
    switch self {
    case .file(let path): Self.schemes.file + path
    case .credential(let name): Self.schemes.credential + name
    }
  }

  /// Returns nil for a text that is not of this form.
  init?(text: String) {
    if text.hasPrefix(Self.schemes.file) {
      self = .file(String(text.dropFirst(Self.schemes.file.count)))
    } else if text.hasPrefix(Self.schemes.credential) {
      self = .credential(String(text.dropFirst(Self.schemes.credential.count)))
    } else {
      return nil
    }
  }

  /// Returns true if the text is the name of a credential: a file name without a path.
  static func isCredentialName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/:".utf8.contains($0) }
  }
}
