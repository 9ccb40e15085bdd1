/// The additions to the generated script for fish.
enum FishCompletion {
  static func script(_ generated: String, _ verbs: VerbTree) -> String {
    // Without a terminal fish cannot tell where the cursor is, and no completion asks for it.
    let text = generated.replacing("(__\(verbs.program)_tokens -tC)", with: "0")
      .replacing("set -l token (commandline -t)", with: "set -l token \(folder)")
    let lines = text.split(separator: "\n").map(String.init)
    let added = verbs.withDefault.flatMap { node, _, defaultVerb in
      // A word after it that is no verb is an argument of the default verb.
      lines.filter { $0.contains("\"\(verbs.program) \(node.path) \(defaultVerb)\"") }
        .map { $0.replacing(" \(node.path) \(defaultVerb)\"", with: " \(node.path)\"") }
    }
    return ([text] + added + verbs.nodes.map { help($0, verbs.program) }).joined(separator: "\n")
      + "\n"
  }

  /// The folder that is typed, after the option if it is in the same word.
  private static let folder = "(commandline -t | string replace -r -- '^--[^=]*=' '')"

  private static func help(_ node: VerbTree.Node, _ program: String) -> String {
    let words = node.path.isEmpty ? "help" : "help " + node.path
    return """
      complete -c '\(program)' -n \
      '__\(program)_tokens -pc | string join " " | string match -q "* \(words)"' \
      -fa '\(node.verbs.joined(separator: " "))'
      """
  }
}
