import Console

extension StoreOptions {
  /// A command of this program as it can be pasted into a shell, for the same store.
  ///
  /// - Parameter words: The verbs and their arguments.
  func commandLine(_ words: [String]) -> String {
    let own = (store.map { ["--store", $0] } ?? []) + migrations.flatMap { ["--migrations", $0] }
    return (["mooring"] + words + own).map(\.shellWord).joined(separator: " ")
  }
}

extension String {
  /// The text as one word of a POSIX shell, in quotes only where it needs them.
  var shellWord: String {
    if wholeMatch(of: /[A-Za-z0-9_.\/=@%+,:-]+/) != nil { return self }
    return "'" + replacing("'", with: #"'\''"#) + "'"
  }
}
