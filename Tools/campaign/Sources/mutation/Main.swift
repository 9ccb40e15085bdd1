import Foundation

/// Rewrites chosen expressions of a copy of the sources, so that the environment variable
/// `MUTATION` switches one of them to a wrong one, and prints a line for each: number, module,
/// kind, place, the text before and after.
@main
enum Main {
  static let modules = ["EntityStore", "FeedSync", "DurableJobs", "LegacyImport"]

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let count = Int(arguments[3])
    else {
      print("usage: mutation FOLDER SEED COUNT")
      exit(64)
    }
    var number = 0
    for (place, module) in modules.enumerated() {
      let folder = URL(filePath: arguments[1]).appending(path: "Sources/\(module)")
      var files = try sources(in: folder).map { try SourceText($0) }
      var random = SplitMix(state: seed &* 31 &+ UInt64(place))
      let share = (count * (place + 1)) / modules.count - (count * place) / modules.count
      for mutation in choose(share, of: files, using: &random) {
        number += 1
        let file = files[mutation.file]
        print(
          number, module, mutation.change.kind.rawValue,
          "Sources/\(module)/\(file.name(below: folder)):\(mutation.line + 1)",
          mutation.change.before, mutation.change.after, separator: "\t")
        files[mutation.file].apply(mutation.change, toLine: mutation.line, number)
      }
      for file in files { try file.write() }
      try Data(switchSource.utf8).write(to: folder.appending(path: "MutationSwitch.swift"))
    }
  }

  private static func sources(in folder: URL) throws -> [URL] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return paths.filter { $0.hasSuffix(".swift") }.sorted().map { folder.appending(path: $0) }
  }

  private struct Mutation {
    let file: Int
    let line: Int
    let change: SourceLine.Change
  }

  /// Takes one change of each file in turn, in a random order of the files, of a kind that is as
  /// rare as possible so far.
  private static func choose(
    _ count: Int, of files: [SourceText], using random: inout SplitMix
  ) -> [Mutation] {
    var left = files.indices.map { files[$0].changes(ofFile: $0) }
    var chosen: [Mutation] = []
    var counts: [SourceLine.Kind: Int] = [:]
    while chosen.count < count, left.contains(where: { !$0.isEmpty }) {
      for file in files.indices.shuffled(using: &random) where chosen.count < count {
        guard let rarest = left[file].map({ counts[$0.change.kind] ?? 0 }).min(),
          let mutation = left[file].filter({ (counts[$0.change.kind] ?? 0) == rarest })
            .randomElement(using: &random)
        else { continue }
        chosen.append(mutation)
        counts[mutation.change.kind, default: 0] += 1
        left[file].removeAll { $0.line == mutation.line }
      }
    }
    return chosen
  }

  /// The source of the switch, which each module has for itself.
  private static let switchSource = """
    import Foundation

    public enum MutationSwitch {
      public static let active =
        ProcessInfo.processInfo.environment["MUTATION"].flatMap { Int($0) } ?? 0
      public static func isOn(_ number: Int) -> Bool { number == active }
    }
    """

  private struct SourceText {
    let url: URL
    var lines: [String]

    init(_ url: URL) throws {
      self.url = url
      lines = try String(contentsOf: url, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    func name(below folder: URL) -> String { String(url.path.dropFirst(folder.path.count + 1)) }

    func changes(ofFile file: Int) -> [Mutation] {
      lines.indices.flatMap { number in
        SourceLine(
          text: lines[number], previous: trimmed(number - 1), next: trimmed(number + 1)
        ).changes().map { Mutation(file: file, line: number, change: $0) }
      }
    }

    private func trimmed(_ number: Int) -> String {
      lines.indices.contains(number) ? lines[number].trimmingCharacters(in: .whitespaces) : ""
    }

    mutating func apply(_ change: SourceLine.Change, toLine line: Int, _ number: Int) {
      let isOn = "MutationSwitch.isOn(\(number))"
      let text =
        change.kind == .call
        ? "if !\(isOn) { \(change.before) }"
        : "(\(isOn) ? (\(change.after)) : (\(change.before)))"
      lines[line] = change.prefix + text + change.suffix
    }

    func write() throws {
      try Data(lines.joined(separator: "\n").utf8).write(to: url)
    }
  }
}

/// A generator with the same numbers for the same seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
