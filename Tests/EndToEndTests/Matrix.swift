import Testing

/// One line of the authorisation matrix.
struct Line: Sendable {
    let method: String
    let pattern: String
    private let statuses: [Who: Int]

    var name: String { "\(method) \(pattern)" }

    func status(for who: Who) -> Int { statuses[who] ?? 0 }

    /// Who has leave, and who has not.
    var allowed: [Who] { Who.allCases.filter { status(for: $0) < 400 } }
    var refused: [Who] { Who.allCases.filter { status(for: $0) >= 400 } }

    fileprivate init?(_ text: Substring) {
        let words = text.split(separator: " ")
        guard words.count == 2 + Who.allCases.count else { return nil }
        method = String(words[0])
        pattern = String(words[1])
        statuses = Dictionary(uniqueKeysWithValues: zip(Who.allCases, words[2...].map { Int($0) ?? 0 }))
    }
}

/// What every route answers to whom.
///
/// `Requests` has the requests. Everybody but `bare` asked for all scopes and got what their role may have; ids in paths
/// and bodies are Ada's, who is `member`: to `other` they do not exist.
enum Matrix {
    static let lines: [Line] = table.split(separator: "\n").dropFirst().compactMap(Line.init)
    static let size = table.split(separator: "\n").count - 1

    static func line(_ name: String) throws -> Line { try #require(lines.first { $0.name == name }) }

    private static let table = """
        method and route                                none foreign expired ended bare member other auditor admin
        GET    /healthz                                  200     200     200   200  200    200   200     200   200
        GET    /readyz                                   200     200     200   200  200    200   200     200   200
        GET    /metrics                                  401     401     401   401  401    401   401     401   401
        GET    /openapi.yaml                             200     200     200   200  200    200   200     200   200
        GET    /v1/capabilities                          200     200     200   200  200    200   200     200   200
        GET    /.well-known/openid-configuration         200     200     200   200  200    200   200     200   200
        GET    /.well-known/oauth-authorization-server   200     200     200   200  200    200   200     200   200
        GET    /oauth2/jwks                              200     200     200   200  200    200   200     200   200
        GET    /oauth2/authorize                         200     200     200   200  200    200   200     200   200
        POST   /oauth2/authorize                         303     303     303   303  303    303   303     303   303
        POST   /oauth2/token                             400     401     401   401  401    401   401     401   401
        POST   /oauth2/revoke                            200     401     401   401  401    401   401     401   401
        GET    /v1/session                               401     401     401   401  200    200   200     200   200
        GET    /v1/sessions                              401     401     401   401  200    200   200     200   200
        DELETE /v1/sessions/{sid}                        401     401     401   401  204    204   404     404   204
        GET    /v1/accounts                              401     401     401   401  403    403   403     403   200
        POST   /v1/accounts                              401     401     401   401  403    403   403     403   201
        GET    /v1/accounts/{account}                    401     401     401   401  403    403   403     403   200
        PATCH  /v1/accounts/{account}                    401     401     401   401  403    403   403     403   200
        GET    /v1/accounts/{account}/devices            401     401     401   401  403    200   200     200   200
        GET    /v1/directory                             401     401     401   401  403    200   200     200   200
        GET    /v1/apps                                  401     401     401   401  403    403   403     403   200
        POST   /v1/apps                                  401     401     401   401  403    403   403     403   201
        GET    /v1/apps/{app}                            401     401     401   401  403    403   403     403   200
        PUT    /v1/apps/{app}                            401     401     401   401  403    403   403     403   200
        DELETE /v1/apps/{app}                            401     401     401   401  403    403   403     403   204
        GET    /v1/devices                               401     401     401   401  200    200   200     200   200
        POST   /v1/devices                               401     401     401   401  200    200   409     409   409
        GET    /v1/devices/{device}                      401     401     401   401  200    200   404     404   200
        PATCH  /v1/devices/{device}                      401     401     401   401  403    200   404     404   404
        DELETE /v1/devices/{device}                      401     401     401   401  403    204   404     404   204
        POST   /v1/messages                              401     401     401   401  403    201   201     201   201
        GET    /v1/mailbox                               401     401     401   401  403    200   200     200   200
        POST   /v1/mailbox/acks                          401     401     401   401  403    200   200     200   200
        GET    /v1/config                                401     401     401   401  403    200   200     200   200
        POST   /v1/config/reports                        401     401     401   401  403    204   204     204   204
        GET    /v1/apps/{app}/config                     401     401     401   401  403    403   403     403   200
        PUT    /v1/apps/{app}/config                     401     401     401   401  403    403   403     403   200
        GET    /v1/apps/{app}/config/revisions           401     401     401   401  403    403   403     403   200
        GET    /v1/apps/{app}/config/revisions/{revision} 401    401     401   401  403    403   403     403   200
        POST   /v1/apps/{app}/config/rollbacks           401     401     401   401  403    403   403     403   201
        GET    /v1/apps/{app}/config/reports             401     401     401   401  403    403   403     403   200
        GET    /v1/events                                401     401     401   401  403    200   200     200   200
        GET    /v1/audit/entries                         401     401     401   401  403    403   403     200   200
        """
}
