@testable import FeedDocuments

/// Reads the first line as an expression, or an error with a position inside it, and the rest as a
/// JSON document, or an error. The normalized path and the pointer of each selected node find it
/// again. The line is also read as a pointer, a template and a pattern.
@_cdecl("fuzz_json_path")
public func fuzzJSONPath(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let input = UnsafeBufferPointer(start: bytes, count: count)
  let line = input.prefix { $0 != UInt8(ascii: "\n") }
  let text = String(decoding: line, as: UTF8.self)
  readOtherwise(text)
  do throws(JSONPathError) {
    let path = try JSONPath(text)
    follow(path, in: Array(input.dropFirst(line.count + 1)))
  } catch {
    guard let offset = error.offset, (0...text.utf8.count).contains(offset) else {
      fatalError("an error without a place: \(error)")
    }
  }
}

/// The padding consists of digits, so that a number that is read too far has a wrong value. The
/// sanitizer detects reads beyond the padding.
private func follow(_ path: JSONPath, in document: [UInt8]) {
  let padded = document + Array(repeating: UInt8(ascii: "7"), count: JSONParser.padding)
  padded.withUnsafeBytes { bytes in
    let text = UnsafeRawBufferPointer(rebasing: bytes.prefix(document.count))
    do throws(DocumentError) {
      try JSONParser().withValue(text) { root in follow(path, in: root) }
    } catch {
      guard (0...document.count).contains(error.offset ?? 0) else {
        fatalError("an error outside the document: \(error)")
      }
    }
  }
}

private func follow(_ path: JSONPath, in root: JSONValue) {
  var found: [(node: JSONValue, location: JSONLocation)] = []
  do throws(JSONPathError) {
    try path.forEach(in: root, workMax: 200_000) { node, location in
      found.append((node, location))
      return found.count < 8
    }
    guard !path.isSingular || found.count <= 1 else { fatalError("singular, but several nodes") }
    for (node, location) in found where isUnique(location, in: root) {
      let again = try JSONPath(location.normalizedPath).nodes(in: root)
      expectSame(again.first, node, at: location)
      guard again.count == 1 else { fatalError("\(again.count) nodes at one place") }
      expectSame(location.pointer.value(in: root), node, at: location)
    }
  } catch {
    guard error.code == .tooMuchWork else { fatalError("another error: \(error)") }
  }
}

/// Returns false for a location below a repeated name, which stands for its last value, and for one
/// whose path is longer than an expression may be.
private func isUnique(_ location: JSONLocation, in root: JSONValue) -> Bool {
  var node = root
  for step in location.steps {
    switch step {
    case .name(let name):
      let namesakes = node.members.filter { $0.name.textBytes.elementsEqual(name.textBytes) }
      guard namesakes.count == 1 else { return false }
      node = namesakes[0].value
    case .index(let index):
      node = Array(node.elements)[index]
    }
  }
  return location.steps.count <= JSONPath.segmentsMax
    && location.normalizedPath.utf8.count <= JSONPath.textBytesMax
}

private func expectSame(_ found: JSONValue?, _ node: JSONValue, at location: JSONLocation) {
  guard let found, found.kind == node.kind, found.textBytes.elementsEqual(node.textBytes) else {
    fatalError("another node at \(location.normalizedPath), or none")
  }
}

/// Checks that pointers and templates read back, and that the time of a pattern is bounded by the
/// product of the lengths of text and pattern.
private func readOtherwise(_ text: String) {
  if let pointer = try? JSONPointer(text) {
    guard pointer.description.utf8.elementsEqual(text.utf8) else {
      fatalError("the pointer reads as \(pointer)")
    }
  }
  if let template = try? URLTemplate(text) {
    guard let url = template.expand({ _ in "é/ " }), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { fatalError("not expanded to a URL") }
  }
  if let pattern = try? IRegexp(text) {
    for isWhole in [true, false] {
      var steps = 0
      _ = pattern.matches(text.unicodeScalars, isWhole: isWhole) { steps += $0 }
      guard steps <= (text.unicodeScalars.count + 2) * (pattern.size + 2) else {
        fatalError("\(steps) steps")
      }
    }
  }
}
