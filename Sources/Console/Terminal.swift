internal import Glibc

/// What is known about the terminal behind a descriptor.
enum Terminal {
  /// The width in columns, or nil without a terminal. A terminal that does not tell has 80.
  static func width(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    // SAFETY: TIOCGWINSZ fills exactly one `winsize`, which outlives the call.
    let status = ioctl(descriptor, UInt(TIOCGWINSZ), &size)
    return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}
