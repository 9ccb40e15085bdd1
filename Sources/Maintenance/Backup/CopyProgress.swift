/// How far the copy of a store is.
public enum CopyProgress: Hashable, Sendable {
  /// Of so many bytes, which may turn out to be fewer or more: others may write meanwhile.
  case copying(bytes: Int, of: Int)
  /// A copy of so many bytes is read back.
  case checking(bytes: Int)
}
