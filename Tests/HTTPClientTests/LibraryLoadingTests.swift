import Glibc
import Testing

@testable import HTTPClient

@Suite struct LibraryLoadingTests {
  /// A process of its own, in which no other test has read a URL.
  @Test func theLibraryIsLoadedWhenItIsNeeded() async {
    await #expect(processExitsWith: .success) {
      guard dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD) == nil else { exit(1) }
      _ = try WebURL("https://example.org/")
      guard dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD) != nil else { exit(2) }
    }
  }

  @Test func aMissingLibraryIsOneClearError() throws {
    let error = try #require(throws: HTTPError.self) {
      _ = try LibCurl(file: "libcurl-that-is-missing.so.4")
    }
    #expect(error.code == .libraryMissing)
    #expect("\(error)".contains("libcurl-that-is-missing.so.4"))
    #expect(error.advice == "install the Debian package libcurl4")
    let other = try #require(throws: HTTPError.self) { _ = try LibCurl(file: "libc.so.6") }
    #expect(other.context == "libc.so.6 has no function curl_global_init")
  }
}
