public import Logging

/// The handler of one logger, which writes to a ``LogOutput``.
public struct LineLogHandler: LogHandler {
  public var metadata: Logger.Metadata = [:]
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let output: LogOutput
  private var ownLevel: Logger.Level?

  init(label: String, output: LogOutput) {
    self.label = label
    self.output = output
  }

  /// The level that was set for this logger, or else that of the output.
  public var logLevel: Logger.Level {
    get { ownLevel ?? output.level }
    set { ownLevel = newValue }
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    // Metadata of the call overrides that of the provider, which overrides that of the logger.
    var all = metadata
    if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
    if let given = event.metadata { all.merge(given) { $1 } }
    if let error = event.error, all["error"] == nil { all["error"] = "\(error)" }
    output.write(
      LogRecord(level: event.level, label: label, message: "\(event.message)", metadata: all))
  }
}
