internal import CPostgreSQL
internal import Glibc

/// A libpq connection string taken apart, with the defaults that a server program needs.
struct ConnectionString {
    private var parameters: [(keyword: String, value: String)]

    /// Nil when libpq cannot read the string.
    init?(_ text: String) {
        guard let options = PQconninfoParse(text, nil) else { return nil }
        defer { PQconninfoFree(options) }
        parameters = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                parameters.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
    }

    /// Sets a parameter that the operator did not give.
    mutating func add(_ keyword: String, _ value: String) {
        guard !parameters.contains(where: { $0.keyword == keyword }) else { return }
        parameters.append((keyword, value))
    }

    /// The defaults that notice a dead peer within seconds instead of hours.
    mutating func addDefaults(applicationName: String) {
        add("application_name", applicationName)
        add("client_encoding", "UTF8")
        add("connect_timeout", "3")
        add("keepalives_idle", "10")
        add("keepalives_interval", "5")
        add("keepalives_count", "3")
        add("tcp_user_timeout", "10000")
    }

    /// Opens a connection; blocks up to the connect timeout of each host.
    func connect() -> OpaquePointer? {
        let keywords = parameters.map { strdup($0.keyword) }
        let values = parameters.map { strdup($0.value) }
        defer {
            for pointer in keywords + values { free(pointer) }
        }
        let keywordList = keywords.map { UnsafePointer($0) } + [nil]
        let valueList = values.map { UnsafePointer($0) } + [nil]
        return PQconnectdbParams(keywordList, valueList, 0)
    }
}
