import Glibc

/// Writes one line to standard output at once; `print` would keep it in a buffer.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}
