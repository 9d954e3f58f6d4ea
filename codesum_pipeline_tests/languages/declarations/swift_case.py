"""Swift as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = '''\
// A cache of pictures.

import Foundation
@testable import struct Core.Key

/// What can be kept.
public protocol Storable: AnyObject, Sendable {
    associatedtype Unit
    var size: Int { get }

    func scaled(by factor: Double) -> Self
    static func make() throws -> Self
    init(size: Int)
}

/// Keeps pictures.
///
/// - Note: not for threads.
@available(iOS 13, *)
public final class Cache<T: Storable>: Base, Counting where T: Comparable {
    public let limit: Int
    private(set) var name: String = "cache" {
        didSet { refresh() }
    }
    static var shared = Cache(limit: 10)
    weak var delegate: Delegate!

    public var total: Int {
        get {
            return items.count
        }
        set {
            count = newValue
        }
    }

    required init(limit: Int, name other: String = "a") {
        self.limit = limit
        super.init()
    }

    convenience init?(text: String) {
        guard let number = Int(text), number > 0 else { return nil }
        self.init(limit: number)
    }

    deinit {
        close()
    }

    /// Finds a picture.
    @discardableResult
    func find(for key: Key, _ rest: Int..., into found: inout [T]) async throws -> T? {
        if let item = items[key], item.size > 1 {
            throw CacheError.big
        } else if case .some(let other) = last {
            print("other \\(other)") // once
        }
        for (index, item) in items.enumerated() where index > -1 {
            found.append(item)
        }
        switch state {
        case .open, .closed:
            fallthrough
        case let .moved(place) where place != nil:
            return place!
        default:
            break
        }
        do {
            try await load(key)
        } catch let error as CacheError {
            log(error)
        }
        let twice = { (x: Int) -> Int in
            return x * 2
        }
        let sizes = rest.map { $0 + 1 }.filter { $0 > 2 }
        self.delegate?.didFind(key, in: sizes)
        return twice(1) > 2 ? nil : found.first ?? nil
    }

    subscript(index: Int) -> T {
        return items[index]
    }

    static func == (a: Cache, b: Cache) -> Bool {
        a.limit == b.limit
    }
}

enum CacheError: String, Error {
    case big = "b", worse
    indirect case nested(Int, CacheError)

    var code: Int { 1 }
}

extension Cache: Hashable where T: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(limit)
    }
}

extension Array where Element == Int {
    mutating func drop() { removeAll() }
}

actor Store {
    private func put(_ x: Int) {}
}

infix operator **: MultiplicationPrecedence
func ** (a: Int, b: Int) -> Int {
    return a * b
}

#if DEBUG
let isDebug = true
#endif

let text = """
  kept
    as written
  """
'''

CONDITIONS = """\
func decide(mode: Mode, size: Int, text: String?) throws {
    if size < 0 {
        tooSmall()
    } else if let found = text, size > 9 {
        tooLarge(found)
    } else {
        fits()
    }
    guard let given = text else {
        return missing()
    }
    always()
    let chosen = size == 1 ? one() : several()
    let other = text ?? standard()
    switch mode {
    case .read, .write: use(mode)
    case .seek(let place) where place > 3: seek(place)
    default: refuse(mode)
    }
    do {
        try attempt()
    } catch let error as IOError {
        recover(error)
    } catch {
        rescue()
    }
}
"""

OPENING = """\
func apart() {
    // Walk all of it once,
    // in order.

    begin()
    end()
}

func whole() {
    // Walk all of it once, in order.
    begin()
}

func first() {
    // Walk all of it once, in order.
    begin()
    end()
}

func task() {
    // TODO: walk all of it once, in order.

    begin()
    end()
}

func code() {
    // walk(all, once);

    begin()
    end()
}
"""

CASE = LanguageCase(
    language="swift",
    path="Sources/Cache.swift",
    source=SOURCE,
    reformatted=SOURCE.replace("    as written", "::")
    .replace("    ", "  ")
    .replace("::", "    as written")
    .replace("{ return nil }", "{\n      return nil\n    }")
    .replace("get {\n      return items.count\n    }", "get { return items.count }")
    .replace("(for key: Key, _ rest", "(\n    for key: Key,\n    _ rest")
    .replace(": inout [T]) async", ": inout [T]\n  ) async")
    .replace("}\n\nenum CacheError", "}\n\n\n\nenum CacheError"),
    commented=SOURCE.replace(" // once", " /* once */")
    .replace("        close()", "        // for good\n        close()")
    .replace("case big", "/* bad */ case big"),
    edit=("hasher.combine(limit)", "hasher.combine(name)"),
    edited=frozenset({"Cache::hash"}),
    rename=("func put(", "func place("),
    renamed={"Store::put": "Store::place"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "text is not nil and size > 9",
        "fits": "neither size < 0 nor (text is not nil and size > 9)",
        "missing": "text is nil",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "standard": "text has no value",
        "use": "mode is .read or .write",
        "seek": "mode is .seek(let place), and place > 3",
        "refuse": "mode is anything else",
        "attempt": "",
        "recover": "IOError is caught",
        "rescue": "an error is caught",
    },
    opening=OPENING,
)
