/// The additions to the generated script for zsh.
enum ZshCompletion {
  static func script(_ generated: String, _ verbs: VerbTree) -> String {
    let end = "\nif [[ \"${funcstack[1]}\""
    var text = generated.split(separator: "\n", omittingEmptySubsequences: false)
      .map(withValueInTheSameWord).joined(separator: "\n")
    for (_, function, _) in verbs.withDefault {
      text = text.replacing("\n\(function)() {", with: "\n\(function)_verbs() {")
    }
    let added = ([complete, help(verbs)] + verbs.withDefault.map(defaultVerb))
      .joined(separator: "\n").replacing("PROGRAM", with: verbs.program)
    return text.replacing(end, with: "\n" + added + end)
  }

  /// The specification of an option with a value gets `=`, so that it takes the value in the same
  /// word, too: `'--sort=[Order.]:keys:…'`.
  private static func withValueInTheSameWord(_ line: Substring) -> String {
    let isOption = line.hasPrefix("        '--") || line.hasPrefix("        '*--")
    let mark = line.firstIndex { $0 == "[" || $0 == ":" }
    guard isOption, let mark, line[mark] == ":" || line.contains("]:") else { return String(line) }
    return line[..<mark] + "=" + line[mark...]
  }

  /// No blank follows a word that goes on, such as `attribute=`.
  private static let complete = #"""
    __PROGRAM_complete() {
        local -r open_word='([^:\\]|\\?)#(=|\\:)(|:*)'
        local -ar empty=("${(M)@:#(|:*)}") open=("${(M)@:#${~open_word}}")
        local -ar closed=("${@:#((|:*)|${~open_word})}")
        _describe -V '' open -S '' -- closed -- empty -P $'\'\''
    }

    """#

  private static func help(_ verbs: VerbTree) -> String {
    let cases = verbs.nodes.map { node in
      "    '\(node.path)') compadd -- \(node.verbs.joined(separator: " ")) ;;"
    }
    return """
      _PROGRAM_help() {
          case "${(j: :)words[2,CURRENT-1]}" in
      \(cases.joined(separator: "\n"))
          *) return 1 ;;
          esac
      }

      """
  }

  /// A function that takes a word that is no verb for an argument of the default verb.
  private static func defaultVerb(
    _ node: VerbTree.Node, _ function: String, _ defaultVerb: String
  ) -> String {
    let names = node.verbs.joined(separator: "|")
    return """
      \(function)() {
          local -i ret=1
          local -r first="${words[2]}"
          local -ri place="${CURRENT}"
          if [[ "${place}" -eq 2 || "${first}" == (\(names)) ]]; then
              \(function)_verbs && ret=0
          fi
          if [[ "${place}" -eq 2 || "${first}" != (\(names)) ]]; then
              \(function)_\(defaultVerb) && ret=0
          fi
          return "${ret}"
      }

      """
  }
}
