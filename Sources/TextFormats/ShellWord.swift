extension String {
  /// The text as one word of a POSIX shell, in quotes only where it needs them.
  package var shellWord: String {
    if wholeMatch(of: /[A-Za-z0-9_.\/=@%+,:-]+/) != nil { return self }
    return "'" + replacing("'", with: #"'\''"#) + "'"
  }
}
