import Glibc
import Testing

@testable import HTTPClient

@Suite struct IPAddressTests {
  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
    "2606:4700::1", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
    "2001:200::1",
  ])
  func anAddressOfThePublicInternetIsPublic(text: String) throws {
    #expect(try #require(IPAddress(text: text)).isPublic)
  }

  @Test(arguments: [
    "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
    "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255",
    "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:0:127.0.0.1",
    "64:ff9b::10.0.0.1", "64:ff9b:1::1.1.1.1", "2002:7f00:1::", "2002:a00:1::1", "100::1",
    "2001::1", "2001:1ff::1", "2001:db8::1", "3fff::1", "fc00::1", "fdff::1", "fe80::1",
    "fec0::1", "ff02::1", "4000::1",
  ])
  func anAddressForOtherUsesIsNotPublic(text: String) throws {
    #expect(try #require(IPAddress(text: text)).isPublic == false)
  }

  @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "fe80::1%eth0", "[::1]", "0x7f.1"])
  func whatIsNoPlainAddressIsNone(text: String) {
    #expect(IPAddress(text: text) == nil)
  }

  @Test func socketAddressesAreReadByTheirFamily() {
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    withUnsafeBytes(of: &v4) {
      #expect(IPAddress(socketAddress: $0) == .v4(0x7F00_0001))
      #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: $0[..<8])) == nil)
    }
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_addr = in6addr_loopback
    withUnsafeBytes(of: &v6) { #expect(IPAddress(socketAddress: $0) == .v6(0, 1)) }
    var other = sockaddr()
    other.sa_family = sa_family_t(AF_UNIX)
    withUnsafeBytes(of: &other) { #expect(IPAddress(socketAddress: $0) == nil) }
    #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
  }
}
