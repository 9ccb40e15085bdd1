import ArgumentParser
public import Console
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import Logging
import Metrics
import Migrations
import ServiceLifecycle
import StoreFigures
import StoreHub
import UnixSignals
public import WorkerService

struct WorkerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker",
    abstract: "Syncs the feeds on schedule and runs the jobs of the store until it is stopped.",
    discussion: """
      mooring worker --concurrency 4 --queues sync=2 --log-level debug

      SIGTERM and Ctrl-C drain: running jobs may finish within --drain-timeout, the \
      others go back to their queue. SIGHUP reloads the settings. One worker serves a store; \
      `mooring jobs stats` shows what it does.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var workerOptions: WorkerOptions

  func run() async throws {
    let settings = try LiveSettings { [workerOptions] in try workerOptions.load() }
    let environment = ProcessInfo.processInfo.environment
    let output = LogOutput(
      level: settings.current.logLevel, format: settings.current.logFormat,
      environment: environment)
    LoggingSystem.bootstrap { output.handler(label: $0) }
    let metrics = TextfileMetrics()
    MetricsSystem.bootstrap(metrics)
    let logger = Logger(label: "worker")
    for warning in settings.warnings { logger.warning("\(warning)") }
    // libdispatch ends a process that cannot open /proc/<thread>/stat.
    let descriptors = raiseDescriptorLimit()
    logger.debug("descriptors", metadata: ["max": "\(descriptors)"])
    let worker = Worker(
      try configuration(settings, logger, output, environment: environment))
    // Shut down from the last to the first: the last metrics are written when the jobs have ended.
    var group = ServiceGroupConfiguration(
      services: [
        .init(service: MetricsTextfile(metrics, settings: settings, logger: logger)),
        .init(service: ReloadOnHangup(worker)),
        .init(
          service: worker, successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .cancelGroup),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "services"))
    group.logger.logLevel = .warning
    try await ServiceGroup(configuration: group).run()
  }

  private func configuration(
    _ settings: LiveSettings, _ logger: Logger, _ output: LogOutput, environment: [String: String]
  ) throws -> Worker.Configuration {
    let (folder, sources) = (options.folder, options.allSources)
    var opening = try options.storeOptions()
    let figures = FigureRecorder(now: opening.now)
    opening.fetchObserver = figures.fetchObserver
    let address = try options.hubAddress()
    var transport = CurlTransport.Configuration()
    transport.userAgent = UserAgent.text(contact: settings.current.contact)
    var configuration = Worker.Configuration(
      folder: folder, transport: try CurlTransport(configuration: transport), settings: settings,
      logger: logger
    ) { [opening] in
      let store = try Store.open(
        at: folder, migrations: sources, migrate: .ifEmpty, options: opening)
      // It ends with the store.
      if let address {
        _ = try HubFollower(store, of: address)
      }
      return store
    }
    configuration.figures = figures
    configuration.logOutput = output
    configuration.notifier = try ServiceNotifier(environment: environment)
    configuration.watchdogInterval = Watchdog.interval(
      environment: environment, process: ProcessInfo.processInfo.processIdentifier)
    configuration.compaction = opening
    configuration.command = CommandLine.arguments.joined(separator: " ")
    return configuration
  }
}

extension NotificationError: ExitStatusProviding {
  public var exitStatus: ExitStatus { isOfVariable ? .configuration : .inputOutput }
}

extension WorkerError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .busy: .tryAgain
    case .notPermitted: .notPermitted
    }
  }
}
