/// The folders of one module, and the names by which one of them uses another.
struct FolderGraph {
  /// A folder uses another one by naming a declaration of it.
  private(set) var edges: [Edge: Set<String>] = [:]

  struct Edge: Hashable {
    let from: String
    let to: String
  }

  init(_ files: [SourceFile]) {
    let scans = files.indices.map { DeclarationScanner(files[$0], index: $0) }
    let module = ModuleNames(scans)
    for (index, file) in files.enumerated() {
      for target in module.targets(of: DeclarationScanner(file, index: index, names: module.names))
      {
        add(from: file.folders, to: files[target.file].folders, name: target.path)
      }
    }
  }

  /// Adds an edge where the paths part. Files that lie in a folder themselves, next to folders, are
  /// its part `.`.
  private mutating func add(from: [String], to: [String], name: String) {
    var level = 0
    while level < from.count, level < to.count, from[level] == to[level] { level += 1 }
    guard level < from.count || level < to.count else { return }
    let parent = from[..<level].map { $0 + "/" }.joined()
    let start = parent + (level < from.count ? from[level] : ".")
    let end = parent + (level < to.count ? to[level] : ".")
    edges[Edge(from: start, to: end), default: []].insert(name)
  }

  /// The sets of folders that can all reach each other, each with the names that cause it.
  var cycles: [String] {
    components().filter { $0.count > 1 }.map { cycle in
      let members = Set(cycle)
      let causes = edges.filter { members.contains($0.key.from) && members.contains($0.key.to) }
        .sorted { ($0.key.from, $0.key.to) < ($1.key.from, $1.key.to) }
        .map { edge, names in
          let shown = names.sorted().prefix(8).joined(separator: ", ")
          return "\n    \(edge.from) → \(edge.to): \(shown)\(names.count > 8 ? ", …" : "")"
        }
      return "cycle of \(cycle.sorted().joined(separator: " ")):" + causes.joined()
    }.sorted()
  }

  /// Tarjan's strongly connected components.
  private func components() -> [[String]] {
    var search = ComponentSearch()
    for edge in edges.keys.sorted(by: { ($0.from, $0.to) < ($1.from, $1.to) }) {
      search.next[edge.from, default: []].append(edge.to)
    }
    for node in search.next.keys.sorted() where search.order[node] == nil { search.visit(node) }
    return search.found
  }
}

private struct ComponentSearch {
  var next: [String: [String]] = [:]
  var order: [String: Int] = [:]
  var found: [[String]] = []
  private var lowest: [String: Int] = [:]
  private var stack: [String] = []

  mutating func visit(_ node: String) {
    let number = order.count
    order[node] = number
    lowest[node] = number
    stack.append(node)
    for target in next[node] ?? [] {
      if order[target] == nil {
        visit(target)
        lowest[node] = min(lowest[node] ?? number, lowest[target] ?? number)
      } else if stack.contains(target) {
        lowest[node] = min(lowest[node] ?? number, order[target] ?? number)
      }
    }
    guard lowest[node] == number, let start = stack.lastIndex(of: node) else { return }
    found.append(Array(stack[start...]))
    stack.removeSubrange(start...)
  }
}

/// The declarations of a module by their paths.
private struct ModuleNames {
  private var visible: [String: Declaration] = [:]
  private var ownOfFile: [Int: Set<String>] = [:]
  private(set) var names: Set<String> = []

  init(_ scans: [DeclarationScanner]) {
    var twice: Set<String> = []
    for (index, scan) in scans.enumerated() {
      ownOfFile[index] = scan.shadowed
      for declaration in scan.declarations {
        if let last = declaration.path.split(separator: ".").last { names.insert(String(last)) }
        if declaration.isPrivate {
          ownOfFile[index, default: []].insert(declaration.path)
        } else if let other = visible[declaration.path], other.file != declaration.file {
          // Overloads of a function, or branches of `#if`: it is not clear which one is used.
          twice.insert(declaration.path)
        } else {
          visible[declaration.path] = declaration
        }
      }
    }
    for path in twice { visible[path] = nil }
  }

  /// The declarations of other files that a file uses, without the module's public types.
  func targets(of scan: DeclarationScanner) -> [Declaration] {
    var resolved: [String?] = []
    var targets: [String: Declaration] = [:]
    let file = scan.file
    let own = ownOfFile[file] ?? []
    for use in scan.uses {
      let path = resolve(use, resolved: resolved, own: own)
      resolved.append(path)
      guard let path, let declaration = visible[path], declaration.file != file else { continue }
      if !isPublic(declaration) { targets[path] = declaration }
    }
    return Array(targets.values)
  }

  private func resolve(_ use: NameUse, resolved: [String?], own: Set<String>) -> String? {
    if let qualifier = use.qualifier {
      return resolved[qualifier].map { $0 + "." + use.name }.flatMap {
        visible[$0] == nil ? nil : $0
      }
    }
    for candidate in use.candidates {
      if own.contains(candidate) { return nil }
      guard let declaration = visible[candidate] else { continue }
      if !declaration.isFunction || use.isCall { return candidate }
    }
    return nil
  }

  /// A nested type is public if the types around it are, too.
  private func isPublic(_ declaration: Declaration) -> Bool {
    guard declaration.isPublic else { return false }
    guard let dot = declaration.path.lastIndex(of: ".") else { return true }
    return visible[String(declaration.path[..<dot])].map(isPublic) ?? true
  }
}
