/// A type, or a function outside types, that a module declares.
struct Declaration: Sendable {
  /// The names of the enclosing types and its own, joined by dots.
  let path: String
  let file: Int
  let isFunction: Bool
  /// True if it and all enclosing types are public.
  let isPublic: Bool
  /// True if no other file can name it.
  let isPrivate: Bool
}

/// A place where a file may name a declaration.
struct NameUse {
  /// The candidates, most deeply nested first: the first one that is declared is meant.
  let candidates: [String]
  /// The index of the use before it that it continues: in `Outer.Inner`, that of `Outer`.
  let qualifier: Int?
  let name: String
  let isCall: Bool
}

/// Reads what one file declares and which names it uses.
struct DeclarationScanner {
  private(set) var declarations: [Declaration] = []
  private(set) var uses: [NameUse] = []
  /// Generic parameters and types of function bodies, which hide those of the module in this file.
  private(set) var shadowed: Set<String> = []

  private let tokens: [Token]
  let file: Int
  private let names: Set<String>?
  private var scopes: [Scope] = []
  private var pending: Scope?
  private var access: String?

  private struct Scope {
    /// Nil for braces of anything but a type.
    var path: String?
    var isPublic = false
    /// True in a `public extension`, whose members are public without saying so.
    var makesPublic = false
  }

  /// With `names`, only uses of these names are collected.
  init(_ file: SourceFile, index: Int, names: Set<String>? = nil) {
    tokens = file.tokens
    self.file = index
    self.names = names
    scan()
  }

  private static let typeKeywords: Set = [
    "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype",
  ]
  private static let accessWords: Set = [
    "public", "open", "package", "internal", "private", "fileprivate",
  ]
  private static let otherKeywords: Set = ["var", "let", "init", "case", "subscript", "import"]

  private mutating func scan() {
    var position = 0
    while position < tokens.count {
      let token = tokens[position]
      guard let word = token.word else {
        if token.isSymbol("{") {
          scopes.append(pending ?? Scope())
          pending = nil
        } else if token.isSymbol("}") {
          _ = scopes.popLast()
          pending = nil
        }
        position += 1
        continue
      }
      let isMember = position > 0 && tokens[position - 1].isSymbol(".")
      if !isMember, Self.accessWords.contains(word) {
        access = word
      } else if !isMember, word == "extension" {
        position = openExtension(position + 1)
        continue
      } else if !isMember, Self.typeKeywords.contains(word), let name = name(after: position),
        name != "func", name != "var", name != "let", name != "subscript"
      {
        declareType(word, name)
        shadowGenerics(position + 2)
        position += 2
        continue
      } else if !isMember, word == "func", let name = name(after: position) {
        declareFunction(name)
        shadowGenerics(position + 2)
        position += 2
        continue
      } else if !isMember, Self.otherKeywords.contains(word) {
        access = nil
      } else if names?.contains(word) ?? false {
        addUse(word, at: position)
      }
      position += 1
    }
  }

  private func name(after position: Int) -> String? {
    position + 1 < tokens.count ? tokens[position + 1].word : nil
  }

  private var enclosing: Scope? { scopes.last { $0.path != nil } }
  private var isInBody: Bool { scopes.last.map { $0.path == nil } ?? false }

  private static func opensScope(_ keyword: String) -> Bool {
    keyword != "typealias" && keyword != "associatedtype"
  }

  private mutating func declareType(_ keyword: String, _ name: String) {
    defer { access = nil }
    guard !isInBody else {
      shadowed.insert(name)
      if Self.opensScope(keyword) { pending = Scope(path: name) }
      return
    }
    let outer = enclosing
    let path = outer?.path.map { $0 + "." + name } ?? name
    let isOuterPublic = outer?.isPublic ?? true
    let isSaidPublic = access == "public" || access == "open"
    let isPublic = isOuterPublic && (isSaidPublic || (access == nil && outer?.makesPublic ?? false))
    let isPrivate = access == "private" || access == "fileprivate"
    declarations.append(
      Declaration(
        path: path, file: file, isFunction: false, isPublic: isPublic, isPrivate: isPrivate))
    if Self.opensScope(keyword) {
      pending = Scope(
        path: path, isPublic: isPublic, makesPublic: isPublic && keyword == "protocol")
    }
  }

  private mutating func declareFunction(_ name: String) {
    defer { access = nil }
    guard scopes.isEmpty else { return }
    let isPrivate = access == "private" || access == "fileprivate"
    declarations.append(
      Declaration(path: name, file: file, isFunction: true, isPublic: false, isPrivate: isPrivate))
  }

  /// Reads the name after `extension`, which is a use of each of its parts.
  private mutating func openExtension(_ start: Int) -> Int {
    var position = start
    var path: [String] = []
    while position < tokens.count, let word = tokens[position].word {
      addUse(word, at: position)
      path.append(word)
      position += 1
      guard position < tokens.count, tokens[position].isSymbol(".") else { break }
      position += 1
    }
    // The extended type decides whether nested types are public: those of public ones are named
    // through it.
    pending = Scope(
      path: path.joined(separator: "."), isPublic: true, makesPublic: access == "public")
    access = nil
    return position
  }

  private mutating func shadowGenerics(_ start: Int) {
    guard start < tokens.count, tokens[start].isSymbol("<") else { return }
    var position = start
    while position < tokens.count, !tokens[position].isSymbol(">") {
      let opens = tokens[position].isSymbol("<") || tokens[position].isSymbol(",")
      if opens, position + 1 < tokens.count, let word = tokens[position + 1].word {
        shadowed.insert(word)
      }
      position += 1
    }
  }

  private mutating func addUse(_ word: String, at position: Int) {
    guard names?.contains(word) ?? false else { return }
    let isCall = position + 1 < tokens.count && tokens[position + 1].isSymbol("(")
    if position > 1, tokens[position - 1].isSymbol(".") {
      guard let outer = tokens[position - 2].word else { return }
      let qualifier = uses.last.map(\.name) == outer ? uses.count - 1 : nil
      uses.append(NameUse(candidates: [], qualifier: qualifier, name: word, isCall: false))
      return
    }
    var candidates: [String] = []
    for scope in scopes.reversed() {
      guard var path = scope.path.map({ Substring($0) }) else { continue }
      while !path.isEmpty {
        candidates.append(path + "." + word)
        path = path.lastIndex(of: ".").map { path[..<$0] } ?? ""
      }
    }
    candidates.append(word)
    uses.append(NameUse(candidates: candidates, qualifier: nil, name: word, isCall: isCall))
  }
}
