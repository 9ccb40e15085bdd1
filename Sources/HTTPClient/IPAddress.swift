import Glibc

/// An IPv4 or IPv6 address.
package enum IPAddress: Equatable, Sendable {
  /// Four bytes in host order.
  case v4(UInt32)
  /// Two halves in host order: the network, and the interface in it.
  case v6(UInt64, UInt64)

  /// Reads a `sockaddr_in` or `sockaddr_in6`. Returns nil for anything else and for a short one.
  init?(socketAddress bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
    // SAFETY (the loads): their ranges are checked against the count just before.
    switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
      let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)!
      self = .v4(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
      let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!
      self = .v6(
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
    default:
      return nil
    }
  }

  /// Reads a numeric address such as `192.0.2.1` or `2001:db8::1`.
  package init?(text: String) {
    var v4 = in_addr()
    var v6 = in6_addr()
    // SAFETY: inet_pton writes an address of the family's own type, which is what it is lent.
    if inet_pton(AF_INET, text, &v4) == 1 {
      self = .v4(UInt32(bigEndian: v4.s_addr))
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      self = withUnsafeBytes(of: &v6) {
        .v6(
          UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
      }
    } else {
      return nil
    }
  }

  /// True if the address can belong to a host on the public internet. False for the blocks of the
  /// IANA special-purpose registries (RFC 6890) and for IPv6 addresses that map to such an IPv4
  /// address.
  package var isPublic: Bool {
    switch self {
    case .v4(let address):
      return !Self.reservedV4.contains { address >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
    case .v6(let network, _):
      if let mapped { return mapped.isPublic }
      // 2000::/3 is the only block of public addresses that has been allocated.
      return network >> 61 == 0b001
        && network >> 41 != 0x2001_0000 >> 9  // 2001::/23, Teredo and other protocols' addresses
        && network >> 32 != 0x2001_0DB8  // 2001:db8::/32, documentation
        && network >> 44 != 0x3FFF0  // 3fff::/20, documentation
    }
  }

  /// True for 169.254/16 and fe80::/10: services of the machine's own network, such as those that
  /// give a virtual machine its credentials.
  package var isLinkLocal: Bool {
    switch self {
    case .v4(let address): address >> 16 == 0xA9FE
    case .v6(let network, _): mapped?.isLinkLocal ?? (network >> 54 == 0xFE80 >> 6)
    }
  }

  /// The IPv4 address that an IPv6 address maps to.
  private var mapped: IPAddress? {
    guard case .v6(let network, let interface) = self else { return nil }
    let isMapped = network == 0 && interface >> 32 == 0xFFFF  // ::ffff:0:0/96
    let isTranslated = network == 0x0064_FF9B_0000_0000 && interface >> 32 == 0  // 64:ff9b::/96
    if isMapped || isTranslated { return .v4(UInt32(truncatingIfNeeded: interface)) }
    if network >> 48 == 0x2002 {  // 2002::/16, 6to4
      return .v4(UInt32(truncatingIfNeeded: network >> 16))
    }
    return nil
  }

  private static let reservedV4: [(prefix: UInt32, bits: UInt32)] = [
    (0x0000_0000, 8),  // 0/8, this network; 0.0.0.0 reaches the own host
    (0x0A00_0000, 8),  // 10/8, private
    (0x6440_0000, 10),  // 100.64/10, carrier NAT
    (0x7F00_0000, 8),  // 127/8, loopback
    (0xA9FE_0000, 16),  // 169.254/16, link-local; cloud metadata services
    (0xAC10_0000, 12),  // 172.16/12, private
    (0xC000_0000, 24),  // 192.0.0/24, protocol assignments
    (0xC000_0200, 24),  // 192.0.2/24, documentation
    (0xC058_6300, 24),  // 192.88.99/24, 6to4 relays
    (0xC0A8_0000, 16),  // 192.168/16, private
    (0xC612_0000, 15),  // 198.18/15, benchmarks
    (0xC633_6400, 24),  // 198.51.100/24, documentation
    (0xCB00_7100, 24),  // 203.0.113/24, documentation
    (0xE000_0000, 4),  // 224/4, multicast
    (0xF000_0000, 4),  // 240/4, reserved and broadcast
  ]
}
