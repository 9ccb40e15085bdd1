internal import ArgumentParser

/// The script with which a shell completes the command lines of a program. It is the script of
/// swift-argument-parser, with what that lacks: the values of `--option=value` and of words with
/// `=` and `:`, the verbs after `help`, and the default verb of a command.
struct CompletionScript {
  private let root: any ParsableCommand.Type
  private let shell: CompletionShell

  init(_ root: any ParsableCommand.Type, for shell: CompletionShell) {
    self.root = root
    self.shell = shell
  }

  /// Returns the shell whose script the arguments ask for: `--generate-completion-script zsh`.
  /// Without a name it is that of `SHELL`. `nil` if they ask for none, or for an unknown one.
  static func requestedShell(_ arguments: [String]) -> CompletionShell? {
    let option = "--generate-completion-script"
    let words = arguments.flatMap { argument in
      argument.hasPrefix(option + "=")
        ? [option, String(argument.dropFirst(option.count + 1))]
        : [argument]
    }
    switch words.count {
    case 1 where words[0] == option: return .autodetected()
    case 2 where words[0] == option: return CompletionShell(rawValue: words[1])
    default: return nil
    }
  }

  var text: String {
    let generated = root.completionScript(for: shell)
    let verbs = VerbTree(root)
    return switch shell {
    case .bash: BashCompletion.script(generated, verbs)
    case .zsh: ZshCompletion.script(generated, verbs)
    default: FishCompletion.script(generated, verbs)
    }
  }
}

/// The verbs of a program that have verbs of their own.
struct VerbTree {
  struct Node {
    /// The words that call it, without the program: `feed`; empty for the program itself.
    let path: String
    let verbs: [String]
    let defaultVerb: String?
  }

  let program: String
  private(set) var nodes: [Node] = []

  fileprivate init(_ root: any ParsableCommand.Type) {
    program = root._commandName
    add(root, [])
  }

  private mutating func add(_ command: any ParsableCommand.Type, _ path: [String]) {
    let configuration = command.configuration
    let shown = configuration.subcommands.filter { $0.configuration.shouldDisplay }
    if shown.isEmpty { return }
    nodes.append(
      Node(
        path: path.joined(separator: " "), verbs: shown.map { $0._commandName },
        defaultVerb: configuration.defaultSubcommand?._commandName))
    for verb in shown { add(verb, path + [verb._commandName]) }
  }

  /// Those that have a default verb, with the names of their functions in the scripts.
  var withDefault: [(node: Node, function: String, defaultVerb: String)] {
    nodes.compactMap { node in
      node.defaultVerb.map { verb in
        (node, "_" + "\(program) \(node.path)".replacing(" ", with: "_"), verb)
      }
    }
  }
}
