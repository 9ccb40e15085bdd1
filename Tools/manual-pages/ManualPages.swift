import Foundation

/// Writes the manual pages of a program from its help.
///
///     PROGRAM --experimental-dump-help | manual-pages FOLDER SECONDS VERSION
///
/// The time is that of the date in the pages, in seconds since 1970. Ends with 64 for other
/// arguments, 65 for a help that cannot be read, and 73 for a page that cannot be written.
@main
enum ManualPages {
  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let seconds = TimeInterval(arguments[2]) else {
      end(64, "usage: PROGRAM --experimental-dump-help | manual-pages FOLDER SECONDS VERSION")
    }
    let program: CommandHelp
    do {
      let help = try FileHandle.standardInput.readToEnd() ?? Data()
      program = try JSONDecoder().decode(ProgramHelp.self, from: help).command
    } catch {
      end(65, "the help cannot be read: \(error)")
    }
    let folder = URL(filePath: arguments[1])
    for page in pages(of: program, date: date(seconds), version: arguments[3]) {
      do {
        try page.text.write(
          to: folder.appending(path: page.name), atomically: false, encoding: .utf8)
      } catch {
        end(73, "\(page.name) cannot be written: \(error)")
      }
    }
  }

  private static func pages(
    of program: CommandHelp, date: String, version: String
  ) -> [(name: String, text: String)] {
    let common = commonOptions(of: program)
    return program.all.map { command in
      let page = ManualPage(
        of: command, in: program, date: date, version: version, common: common)
      return (command.pageName + ".1", page.text)
    }
  }

  /// The identities of the options that more than half of the commands have.
  private static func commonOptions(of program: CommandHelp) -> Set<String> {
    let commands = program.all.filter(\.shownSubcommands.isEmpty)
    let counts = commands.flatMap { Set($0.shownArguments.map(\.identity)) }
      .reduce(into: [:]) { $0[$1, default: 0] += 1 }
    return Set(counts.filter { $0.value * 2 > commands.count }.keys)
  }

  private static func date(_ seconds: TimeInterval) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "MMMM d, yyyy"
    return formatter.string(from: Date(timeIntervalSince1970: seconds))
  }

  private static func end(_ status: Int32, _ message: String) -> Never {
    FileHandle.standardError.write(Data("manual-pages: \(message)\n".utf8))
    exit(status)
  }
}
