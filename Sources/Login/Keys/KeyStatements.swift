import Domain
import Postgres
import Store
import Wire

extension Transaction {
    /// Every key that has not retired, also those that do not sign yet.
    func signingKeys() throws(Failure) -> [StoredKey] {
        try query(
            """
            SELECT id, public_key, sealed_seed, activates_at, retires_at
            FROM signing_key
            WHERE retires_at > \(now)
            ORDER BY activates_at
            """
        ) { row throws(PostgresError) in
            StoredKey(
                id: try row[0], publicKey: try row[1], sealedSeed: try row[2], activatesAt: try row[3],
                retiresAt: try row[4])
        }
    }

    func insert(_ key: StoredKey) throws(Failure) {
        try execute(
            """
            INSERT INTO signing_key (id, public_key, sealed_seed, created_at, activates_at, retires_at)
            VALUES (\(key.id), \(key.publicKey), \(key.sealedSeed), \(now), \(key.activatesAt), \(key.retiresAt))
            """)
    }

    /// Keeps the present keys until what they sign before `instant` has expired.
    func keepSigningKeys(until instant: Instant) throws(Failure) {
        try execute(
            """
            UPDATE signing_key
            SET retires_at = \(instant)
            WHERE retires_at > \(now) AND retires_at < \(instant)
            """)
    }

    func deleteRetiredKeys() throws(Failure) {
        try execute("DELETE FROM signing_key WHERE retires_at <= \(now)")
    }
}
