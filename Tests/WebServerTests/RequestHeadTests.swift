import Testing

@testable import WebServer

@Suite struct RequestHeadTests {
  private func request(_ target: String, body: String = "") throws -> WebRequest {
    let method = body.isEmpty ? "GET" : "POST"
    let head = try RequestHead(
      method: method, target: target, headers: [("Host", "h"), ("X-Y", "1"), ("x-y", "2")],
      headBytes: 100, limits: WebServer.Limits())
    return try head.request(body: Array(body.utf8))
  }

  @Test func pathQueryAndFormAreDecoded() throws {
    let request = try request("/a%20b/%C3%BC+?q=1+2&q=%26&x&=y&&z=a=b", body: "f=%0D%0A&g=+")
    #expect(request.path == "/a b/ü+")
    #expect(
      request.query.map { "\($0.name):\($0.value)" } == ["q:1 2", "q:&", "x:", ":y", "z:a=b"])
    #expect(request.value(of: "q") == "1 2")
    #expect(request.value(of: "X") == nil)
    #expect(request.field("f") == "\r\n")
    #expect(request.field("g") == " ")
    #expect(request.header("x-Y") == "1")
  }

  @Test func whatIsEncodedIsDecodedToTheSame() throws {
    let text = "/ä/%2F?&=+#\u{1F600} \u{1}\n\"'<>"
    let target = FormText.target(path: text, query: [(text, text)])
    let request = try request(target)
    #expect(request.path == text)
    #expect(request.value(of: text) == text)
  }

  @Test(arguments: [
    "/%", "/%4", "/%4g", "/%+1", "/?%", "/?a=%zz", "/%00", "/?a=%00", "/%ff", "/?%c3%28=", "/ü",
    "/a b", "/\t", "", "*", "a", "//a", "http://a/",
  ])
  func aTargetThatIsNoPathInUTF8IsRefused(target: String) {
    let refusal = #expect(throws: Refusal.self) { try request(target) }
    #expect(refusal?.status == 400)
  }

  @Test(arguments: ["a=%", "%00=1", "a=%ff"])
  func aFormThatIsNotUTF8IsRefused(form: String) {
    #expect(throws: Refusal.self) { try request("/", body: form) }
  }
}
