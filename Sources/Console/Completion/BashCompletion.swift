/// The additions to the generated script for bash.
enum BashCompletion {
  static func script(_ generated: String, _ verbs: VerbTree) -> String {
    let program = verbs.program
    var text = generated.replacing("#!/bin/bash\n", with: "")
      .replacing("complete -o filenames -F _\(program) \(program)", with: "")
    for (_, function, _) in verbs.withDefault {
      text = text.replacing("\n\(function)() {", with: "\n\(function)_verbs() {")
    }
    return text
      + ([words, help(verbs)] + verbs.withDefault.map(defaultVerb))
      .joined(separator: "\n").replacing("PROGRAM", with: program)
      + "\ncomplete -F _\(program)_words \(program)\n"
  }

  /// The words before the cursor are put together again, because bash parts them at = and :, and an
  /// option is parted from its value. Of the answers bash wants the part of the word that it knows.
  /// The commands' words with characters that mean something to a shell are treated as files are,
  /// so that bash escapes them.
  private static let words = #"""
    __PROGRAM_add_completions() {
        local completion
        [[ $1 == -W ]] || compopt -o filenames
        while IFS='' read -r completion; do
            COMPREPLY+=("${completion}")
        done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
    }

    _PROGRAM_words() {
        local rest=${COMP_LINE:0:COMP_POINT} part words=()
        local -r later=("${COMP_WORDS[@]:COMP_CWORD+1}")
        for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
            [[ ${#words[@]} -gt 0 && $rest != [[:space:]]* ]] || words+=('')
            rest=${rest#"${rest%%[![:space:]]*}"}
            part=${part:0:${#rest}}
            words[-1]+=$part
            rest=${rest:${#part}}
        done
        local -r typed=${words[-1]}
        COMP_WORDS=()
        for part in "${words[@]}"; do
            case $part in
            --*=*) COMP_WORDS+=("${part%%=*}" "${part#*=}") ;;
            *) COMP_WORDS+=("$part") ;;
            esac
        done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        local value=${COMP_WORDS[COMP_CWORD]}
        [[ $value != [\"\']* ]] || value=$2
        COMP_WORDS+=("${later[@]}")
        _PROGRAM "$1" "$value" "${COMP_WORDS[COMP_CWORD-1]}"

        [[ ${#COMPREPLY[@]} -gt 0 ]] || return 0
        if [[ $typed == *"$value" && ${typed#--*=} != [\"\']* ]]; then
            COMPREPLY=("${COMPREPLY[@]/#/"${typed%"$value"}"}")
            COMPREPLY=("${COMPREPLY[@]#"${typed%"$2"}"}")
        fi
        [[ ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace
        [[ ${COMPREPLY[*]} != *[^A-Za-z0-9_./:@%+,=\ -]* ]] || compopt -o filenames
        return 0
    }

    """#

  private static func help(_ verbs: VerbTree) -> String {
    let cases = verbs.nodes.map { node in
      "    '\(node.path)') COMPREPLY+=($(compgen -W '\(node.verbs.joined(separator: " "))' "
        + #"-- "${cur}")) ;;"#
    }
    return """
      _PROGRAM_help() {
          case "${unparsed_words[*]:0:${#unparsed_words[@]}-1}" in
      \(cases.joined(separator: "\n"))
          esac
      }

      """
  }

  /// A function that takes a word that is no verb for an argument of the default verb.
  private static func defaultVerb(
    _ node: VerbTree.Node, _ function: String, _ defaultVerb: String
  ) -> String {
    """
    \(function)() {
        local -r all=("${unparsed_words[@]}")
        [[ ${#all[@]} -gt 1 ]] || \(function)_verbs
        case "${all[0]}" in
        \(node.verbs.joined(separator: "|")))
            [[ ${#all[@]} -eq 1 ]] || \(function)_verbs
            ;;
        *)
            unparsed_words=("${all[@]}")
            \(function)_\(defaultVerb)
            ;;
        esac
    }

    """
  }
}
