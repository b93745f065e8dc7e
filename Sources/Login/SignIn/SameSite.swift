import HTTP

/// Tells a form that was sent from our own page from one that another site made the browser send.
struct SameSite: Sendable {
    /// Scheme, host and port of the public URL, as browsers write an origin.
    private let origin: String

    init(issuer: String) {
        let host = issuer.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        origin = host.prefix(3).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/").lowercased()
    }

    /// Whether nothing says that another site sent it.
    ///
    /// Clients that are no browsers say nothing at all.
    func allows(_ head: RequestHead) -> Bool {
        if let site = head.headers["sec-fetch-site"] { return site == "same-origin" || site == "none" }
        guard let sender = head.headers["origin"] else { return true }
        return sender.lowercased() == origin
    }
}
