// API: the shape of an endpoint, access rules, conditional requests, pagination, idempotency, and the single translation
// from `Failure` to problem+json (RFC 9457).
//
// Nothing here knows a feature, a table or how a token is made.
