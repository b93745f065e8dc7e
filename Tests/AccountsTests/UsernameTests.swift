import Testing

@testable import Accounts

@Suite struct UsernameTests {
    @Test(
        "A name is kept in lower case", arguments: [("Ada.Lovelace", "ada.lovelace"), ("A_B-9", "a_b-9"), ("x", "x")])
    func lowerCase(given: String, kept: String) {
        #expect(Username(given)?.text == kept)
    }

    @Test(
        "Anything but ASCII letters, digits and '._-' is refused, also what lower-cases into them",
        arguments: ["", "a b", "a@b", "\u{212A}elvin", "\u{E4}", "a\u{0}", String(repeating: "a", count: 65)])
    func refused(text: String) {
        #expect(Username(text) == nil)
    }
}
