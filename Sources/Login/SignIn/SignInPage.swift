import API
import Crypto
import Domain
import HTTP
import Wire

/// The pages people see while they sign in: plain HTML that works without scripts and loads nothing.
enum SignInPage {
    /// Why the form is shown again.
    enum Notice: Sendable {
        case wrong
        case blocked(seconds: Int)

        var text: String {
            switch self {
            case .wrong: "The username or the password is not right."
            case .blocked(let seconds): "Too many failed attempts. Try again in \(seconds) seconds."
            }
        }
    }

    /// The form.
    ///
    /// Its action is relative, so that it works under any public URL.
    static func form(appName: String, ticket: String, username: String, notice: Notice? = nil) -> Response {
        let alert = notice.map { "<p id=\"notice\" role=\"alert\">\(HTMLText.escape($0.text))</p>" } ?? ""
        let described = notice == nil ? "" : " aria-describedby=\"notice\""
        let response = page(
            status(of: notice), title: "Sign in",
            """
            <h1>Sign in</h1>
            <p>to continue to <strong>\(HTMLText.escape(appName))</strong></p>
            \(alert)
            <form method="post" action="authorize">
            <input type="hidden" name="request" value="\(HTMLText.escape(ticket))">
            <label for="username">Username</label>
            <input id="username" name="username" type="text" value="\(HTMLText.escape(username))" required maxlength="64"
             autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false"\(described)\
            \(username.isEmpty ? " autofocus" : "")>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" required maxlength="1024"
             autocomplete="current-password"\(described)\(username.isEmpty ? "" : " autofocus")>
            <button type="submit">Sign in</button>
            </form>
            """)
        guard case .blocked(let seconds) = notice else { return response }
        return response.adding("Retry-After", "\(seconds)")
    }

    /// A page that says why it cannot go on.
    static func refusal(_ status: Int, _ words: String) -> Response {
        page(
            status, title: "Cannot sign in",
            """
            <h1>Cannot sign in</h1>
            <p role="alert">\(HTMLText.escape(words))</p>
            """)
    }

    static func tooMany(_ standing: RateStanding) -> Response {
        let seconds = standing.retryAfter ?? 1
        var page = refusal(429, "Too many requests come from this network. Try again in \(seconds) seconds.")
            .adding("Retry-After", "\(seconds)")
        page.add([standing])
        return page
    }

    static var away: Response {
        refusal(503, "The server is not available just now. Try again in a moment.").adding("Retry-After", "1")
    }

    /// Sends the browser back to the app, with GET whatever the method was.
    static func redirect(to location: String) -> Response {
        Response(
            status: 303,
            headers: [("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", referrerPolicy)],
            body: .empty)
    }

    private static func status(of notice: Notice?) -> Int {
        switch notice {
        case nil: 200
        case .wrong: 401
        case .blocked: 429
        }
    }

    private static func page(_ status: Int, title: String, _ main: String) -> Response {
        let html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(style)</style>
            </head>
            <body>
            <main>
            \(main)
            </main>
            </body>
            </html>

            """
        let headers = [
            ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
            ("Content-Security-Policy", policy), ("Referrer-Policy", referrerPolicy), ("X-Frame-Options", "DENY"),
        ]
        return Response(status: status, headers: headers, body: .bytes(Array(html.utf8)))
    }

    // Under `no-referrer` browsers send `Origin: null` with the form, which tells nothing; other sites learn nothing
    // under this one either.
    private static let referrerPolicy = "same-origin"

    // No `form-action`: browsers apply it to the redirect after the form too, which leads to the app.
    private static let policy = """
        default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256.hash(Array(style.utf8))))'; \
        frame-ancestors 'none'; base-uri 'none'
        """

    private static let style = """
        :root{font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}
        body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;box-sizing:border-box}
        main{width:100%;max-width:22rem}
        h1{font-size:1.5rem;margin:0}
        form{display:grid;gap:.25rem}
        label{margin-top:.75rem;font-weight:600}
        input,button{font:inherit;padding:.6rem .75rem;border-radius:.5rem;border:1px solid GrayText}
        button{margin-top:1.25rem;border-color:transparent;background:#1a56c4;color:#fff;font-weight:600}
        :focus-visible{outline:3px solid #6ea1ff;outline-offset:2px}
        [role=alert]{padding:.6rem .75rem;border-radius:.5rem;border:2px solid #c0392b}
        """
}

extension Response {
    fileprivate func adding(_ name: String, _ value: String) -> Response {
        var response = self
        response.add(name, value)
        return response
    }
}
