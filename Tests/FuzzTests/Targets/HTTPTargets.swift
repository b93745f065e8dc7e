import Wire

@testable import API
@testable import HTTP

extension FuzzTarget {
    static let http = [
        FuzzTarget("head", longest: 512) { bytes in
            guard let cut = CutHead(bytes) else { return }
            var reader = HeadReader(
                limits: HeadReader.Limits(fieldBytes: 512, fieldCount: 16, targetBytes: 256), checksLayout: true)
            cut.show(to: &reader)
            let framing = reader.finish(minorVersion: 1)
            guard reader.refusal == nil else { return }
            // A reader that knows only the grammar must see the very same fields.
            let strict = StrictHead(bytes)
            expect(strict.fields != nil, "what is accepted is one field to a line, each ended by CR LF")
            let seen = reader.headers.fields
            expect(strict.fields?.count == seen.count, "two readers see as many fields")
            for (one, other) in zip(strict.fields ?? [], seen) {
                expect(same(one.name, other.name) && same(one.value, other.value), "two readers see the same fields")
            }
            let names = seen.map { $0.name.lowercased() }
            if case .length(let count) = framing { expect(count >= 0, "no body is shorter than nothing") }
            expect(names.filter { $0 == "host" }.count == 1, "there is one Host")
            expect(
                !(names.contains("content-length") && names.contains("transfer-encoding")),
                "a body is delimited in one way")
        },
        FuzzTarget("target", longest: 512) { bytes in
            guard let target = try? HTTP.Target(bytes, limit: 256) else { return }
            expect(bytes.count <= 256, "no target is longer than allowed")
            for (name, value) in target.query {
                expect(!name.utf8.contains(0) && !value.utf8.contains(0), "no NUL is read")
            }
            guard case .path(let path) = target.form else { return }
            expect(path.utf8.first == UInt8(ascii: "/") && !path.utf8.contains(UInt8(ascii: "?")), "a path is a path")
            for method in [HTTP.Method.get, .post, .delete] { checkMatch(method, path) }
        },
        FuzzTarget("media-type", longest: 128) { bytes in
            let text = bytes.anyText
            let offers = ["application/json", "text/event-stream"]
            let isTaken = MediaType.isOne(text, of: offers)
            expect(MediaType.isOne(" \(text)\t", of: offers) == isTaken, "white space around a type means nothing")
            expect(MediaType.isOne(text.ascii(by: { $0 | 0x20 }), of: offers) || !isTaken, "nor does case")
            if isTaken {
                expect(offers.contains { text.lowercased().contains($0) }, "what is taken is named")
            }
            let accepts = MediaType.accepts([text], produces: offers)
            expect(MediaType.accepts([" , \(text) ,"], produces: offers) == accepts, "empty members mean nothing")
            let takesAll = MediaType.accepts([text, "*/*"], produces: offers)
            expect(takesAll || text.contains("0"), "who refuses nothing and takes all is given something")
        },
        FuzzTarget("forwarded", longest: 256) { bytes in
            let parts = bytes.split(separator: 0x0A, maxSplits: 1).map { Array($0).anyText }
            guard let list = parts.first, let proxies = TrustedProxies(list.split(separator: ",").map(String.init))
            else {
                return
            }
            let peer = Address(bytes: [10, 0, 0, 1], port: 1)
            let header = parts.count > 1 ? parts[1] : ""
            let client = proxies.client(of: head(peer, header))
            guard let client else { return }
            expect(Address(client.text, port: client.port) == client, "a client's address has one spelling")
            // Whatever stands further left was written by the client itself.
            let spoofed = proxies.client(of: head(peer, "192.0.2.7, \(header)"))
            expect(spoofed == client, "left of a stranger nothing is believed")
        },
        FuzzTarget("address", longest: 64) { bytes in
            guard let address = Address(bytes.anyText, port: 443) else { return }
            expect(Address(address.text, port: 443) == address, "an address that is written is read again")
            expect(
                bytes.anyText.utf8.allSatisfy { (0x2E...0x66).contains($0) }, "an address is digits, dots and colons")
            expect(Address(address.storage.address) == address, "the system is told the same address")
        },
        FuzzTarget("conditions", longest: 96) { bytes in
            let text = bytes.anyText
            let tag = ETag(7)
            let request = Request(
                head: head(Address(bytes: [127, 0, 0, 1], port: 1), "", [("If-Match", text), ("If-None-Match", text)]))
            let matches = (try? request.requireMatch(tag)) != nil
            if matches { expect(text.contains("\"7\"") || text.contains("*"), "only a tag that is named matches") }
            expect(!matches || request.holds(tag), "what matches strongly also matches weakly")
        },
    ]

    private static let router = try? Router([
        (Route(.get, "/v1/devices/{device}"), Nobody()), (Route(.post, "/v1/devices"), Nobody()),
        (Route(.get, "/v1/apps/{app}/config"), Nobody()), (Route(.get, "/v1/apps/{app}/{part}"), Nobody()),
        (Route(.get, "/"), Nobody()),
    ])

    private static func checkMatch(_ method: HTTP.Method, _ path: String) {
        guard let router, case .found(let index, let parameters) = router.match(method, path) else { return }
        expect(router.entries[index].route.method == method, "a route is found for its own method")
        var pattern = router.entries[index].route.pattern
        for (name, value) in parameters {
            expect(!value.isEmpty && value != "." && value != "..", "a parameter is a name")
            guard let range = pattern.range(of: "{\(name)}") else {
                return expect(false, "parameters are the pattern's")
            }
            pattern.replaceSubrange(range, with: PercentCoding.encode(value))
        }
        guard case .found(let again, let same) = router.match(method, pattern) else {
            return expect(false, "a path made of what was found is found")
        }
        expect(again == index && same.elementsEqual(parameters, by: ==), "and leads to the same place")
    }

    private static func head(
        _ peer: Address, _ forwarded: String, _ fields: [(name: String, value: String)] = []
    ) -> RequestHead {
        RequestHead(
            method: .get, rawPath: "/", headers: Headers([("X-Forwarded-For", forwarded)] + fields), peer: peer)
    }
}

private struct Nobody: Handler {
    func handle(_ request: Request) -> Outcome { .now(Response(status: 204)) }
}

extension String {
    fileprivate func ascii(by change: (UInt8) -> UInt8) -> String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? change($0) : $0 }, as: UTF8.self)
    }

    /// Where a text begins and ends in this one, compared byte by byte.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].utf8.starts(with: text.utf8) {
                return start..<utf8.index(start, offsetBy: text.utf8.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
