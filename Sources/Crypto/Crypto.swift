// Crypto is the only room that sees key bytes.
//
// It wraps libsodium: hashing, sealing, signing, passwords, and the few formats that are nothing but cryptography
// (compact JWS, JWK, PKCE, the enrolment proof). Long-lived secrets are `SecretBytes`: guarded memory, not copyable,
// wiped at their end. Every secret is compared in constant time.
//
// It never reads a clock, never talks to the database or the network, never logs, and hands out no key except public
// ones. The root-key file is the one thing it reads and writes.
