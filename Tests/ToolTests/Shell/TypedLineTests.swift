import Foundation
import TestSupport
import Testing

/// Lines that are typed into real shells, whose TAB asks the commands of this build.
@Suite struct TypedLineTests {
  enum Shell: String, CaseIterable, CustomTestStringConvertible {
    case bash, zsh, fish

    var testDescription: String { rawValue }

    /// The ones that this machine has.
    static let installed = allCases.filter {
      FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    fileprivate var start: String {
      switch self {
      case .bash: "bash --norc --noprofile -i"
      case .zsh: "zsh -f -i"
      case .fish: "fish --no-config -i"
      }
    }

    fileprivate func source(_ program: String) -> String {
      switch self {
      case .bash, .zsh: "source <(\(program) --generate-completion-script \(self))"
      case .fish: "\(program) --generate-completion-script fish | source"
      }
    }

    fileprivate var preparation: String {
      let sources = ["mooring", "mooring-dump"].map(source).joined(separator: "; ")
      return self == .zsh ? "autoload -Uz compinit; compinit -D -u; " + sources : sources
    }
  }

  /// Types the lines, each with a TAB and `!` at its end, which shows whether a blank precedes it.
  ///
  /// - Returns: The words of each line, in angle brackets.
  private func typed(_ lines: [String], in shell: Shell, store: String) throws -> [String] {
    try withTemporaryFolder { folder in
      let toLineStart = "\u{1}"
      let typing = lines.map { "\($0)\t!\(toLineStart)printf '<%s>' result= \n" }.joined()
      try (shell.preparation + "\n" + typing + "exit\n").write(
        toFile: folder.path("typing"), atomically: true, encoding: .utf8)
      let programs = childExecutable(named: "mooring").deletingLastPathComponent().path
      let session = """
        export PATH="\(programs):$PATH" TERM=dumb COLUMNS=400
        exec script --quiet --command '\(shell.start)' /dev/null <'\(folder.path("typing"))'
        """
      let run = try run("mooring", [], in: session, store: store)
      let found = run.output.matches(of: /<result=><(mooring[^\n\r]*)>/)
      #expect(found.count == lines.count, "\(run.output)")
      return found.map { "<" + $0.output.1 + ">" }
    }
  }

  /// Expects the words of each line after its TAB.
  private func expect(
    _ expected: KeyValuePairs<String, String>, in shell: Shell,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withSampleStore { store in
      let found = try typed(expected.map(\.key), in: shell, store: store)
      for ((line, words), found) in zip(expected, found) {
        #expect(found == words, "\(line)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test(arguments: Shell.installed)
  func wordsWithMarksAreCompletedInTheirParts(_ shell: Shell) throws {
    try expect(
      [
        "mooring set Episode ep:1 favo": "<mooring><set><Episode><ep:1><favoriteAt=!>",
        "mooring set Episode ep:1 favoriteAt=no":
          "<mooring><set><Episode><ep:1><favoriteAt=now><!>",
        "mooring batch update Episode --set favoriteAt=no":
          "<mooring><batch><update><Episode><--set><favoriteAt=now><!>",
        "mooring fetch Episode --aggregate n=countD":
          "<mooring><fetch><Episode><--aggregate><n=countDistinct:!>",
        "mooring fetch Episode --select id,n=tit":
          "<mooring><fetch><Episode><--select><id,n=title><!>",
      ], in: shell)
  }

  @Test(arguments: Shell.installed)
  func theValueOfAnOptionIsCompletedInTheSameWord(_ shell: Shell) throws {
    try expect(
      [
        "mooring fetch Episode --format=j": "<mooring><fetch><Episode><--format=json!>",
        "mooring fetch Episode --sort=upd": "<mooring><fetch><Episode><--sort=updatedAt><!>",
        "mooring fetch Episode --sort=updatedAt:d":
          "<mooring><fetch><Episode><--sort=updatedAt:desc><!>",
        "mooring worker --log-level=cr": "<mooring><worker><--log-level=critical><!>",
        "mooring worker --log-format j": "<mooring><worker><--log-format><json><!>",
        "mooring schema diff --store=/usr/shar":
          "<mooring><schema><diff><--store=/usr/share/!>",
        "mooring-dump jobs --state=poi": "<mooring-dump><jobs><--state=poisoned><!>",
      ], in: shell)
  }

  @Test(arguments: Shell.installed)
  func verbsAndTheArgumentsOfADefaultVerbAreOffered(_ shell: Shell) throws {
    try expect(
      [
        "mooring help mig": "<mooring><help><migrate><!>",
        "mooring help feed insp": "<mooring><help><feed><inspect><!>",
        "mooring schema Epi": "<mooring><schema><Episode><!>",
        "mooring schema di": "<mooring><schema><diff><!>",
        "mooring schema Episode --as sw": "<mooring><schema><Episode><--as><swift><!>",
        "mooring-dump records Epi": "<mooring-dump><records><Episode><!>",
      ], in: shell)
  }

  @Test(arguments: Shell.installed)
  func nothingIsOfferedForAKey(_ shell: Shell) throws {
    try expect(["mooring set Episode ": "<mooring><set><Episode><!>"], in: shell)
  }
}
