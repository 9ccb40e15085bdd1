import ArgumentParser
import Console
import Foundation
import Glibc
import StatusModel

struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Shows the status of the store on the whole terminal, once a second.",
    discussion: """
      mooring top
      mooring top --every 5

      It shows what needs attention, and the feeds, jobs, runs and workers, as `mooring status` \
      does. ? lists the keys: f, j, r, w and p choose the table, s sorts it, / filters it, Enter \
      shows all about a row, q quits. Reads only.

      Without a terminal, or with TERM=dumb, it prints one screen and ends. NO_COLOR turns colors \
      off.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The time between two readings.", valueName: "seconds"))
  var every = 1.0

  func validate() throws {
    guard every >= 0.1, every <= 3_600 else {
      throw ValidationError("--every takes 0.1 to 3600 seconds")
    }
  }

  func run() async throws {
    var source = TopSource(options)
    let status = try source.read()
    let environment = ProcessInfo.processInfo.environment
    guard environment["TERM"] ?? "dumb" != "dumb", isatty(STDIN_FILENO) == 1,
      isatty(STDOUT_FILENO) == 1
    else { return try print(status) }
    let palette: TopPalette =
      environment["NO_COLOR"]?.isEmpty ?? true ? .colors : .attributes
    // Nothing is awaited from here: the signals belong to this thread.
    let signal = try RawScreen.with { screen in
      try watch(on: &screen, &source, status, palette)
    }
    if let signal, signal != SIGINT { throw ExitCode(128 + signal) }
  }

  /// Draws until a key or a signal ends it.
  ///
  /// - Returns: The signal; nil for a key.
  private func watch(
    on screen: inout RawScreen, _ source: inout TopSource, _ first: StoreStatus,
    _ palette: TopPalette
  ) throws -> Int32? {
    var (status, state) = (first, TopState())
    var notice: String?
    var nextAt = ContinuousClock.now + .seconds(every)
    while true {
      let size = screen.size
      let shown = TopScreen(
        status, state, columns: size.columns, rows: size.rows, palette, notice: notice)
      try screen.draw(shown.lines)
      switch screen.wait(until: state.isPaused ? nil : nextAt) {
      case .ended(let signal): return signal
      case .keys(let keys):
        for key in keys {
          // A key may follow another one that has changed the screen.
          let shown = TopScreen(
            status, state, columns: size.columns, rows: size.rows, palette, notice: notice)
          guard state.handle(key, on: shown) else { return nil }
        }
      case .redraw, .timeout: break
      }
      guard !state.isPaused, .now >= nextAt else { continue }
      do {
        status = try source.read()
        notice = nil
      } catch let error as any ExitStatusProviding where error.exitStatus == .tryAgain {
        notice = "\(error)"
      }
      nextAt = .now + .seconds(every)
    }
  }

  /// Prints what a screen shows, whole and without escape sequences.
  private func print(_ status: StoreStatus) throws {
    try StandardOutput.with { output in
      try StatusText(status).write(to: &output)
      for view in [TopView.feeds, .jobs] {
        let table = TopTable(view, of: status)
        let lines = table.lines(
          of: table.rows, sort: .init(), width: output.terminalWidth ?? .max)
        try output.write("\n\(view.rawValue)\n")
        for line in table.rows.isEmpty ? [table.whenEmpty] : lines { try output.write(line + "\n") }
      }
    }
  }
}
