/// The bounds of the figures, each with its reason. All tables together have at most 10 MB.
enum Limits {
  /// The encoded values of a slot, so that a page holds five of them.
  static let slotBytesMax = 700
  /// The kinds of errors that a slot counts. All others are counted together.
  static let errorKindsMax = 16
  static let errorKindBytesMax = 24
  /// The greatest count of a slot: 2^49 − 1, seven bytes of a varint.
  static let countMax: Int64 = (1 << 49) - 1

  static let feedsMax = 20_000
  /// The seconds by which a slot may be in the future before it is the first to be removed: the
  /// clocks of machines that share a store differ.
  static let clockErrorMax = 3_600.0

  /// The minutes that wait for a flush. The store may be unwritable for hours.
  static let pendingMinutesMax = 60
  static let slowFetchesMax = 200
  /// The bytes of the request and of the plan of a slow fetch.
  static let fetchTextBytesMax = 1_000
  static let entityNameBytesMax = 128
  /// The indexes whose uses are counted; beyond them none is.
  static let indexesMax = 4_096
  /// The seconds of recording after which an index without a use counts as unused.
  static let unusedAfter = 7 * 86_400.0
}
