extension JSON {
    /// The members of an object in the order they were written; each key once.
    public struct Object: Sendable {
        public typealias Element = (key: String, value: JSON)

        private var pairs: [Element] = []
        /// Where each key is, once there are more than a scan should look through.
        private var places: [ByteKey: Int] = [:]

        private static let scanLimit = 8

        public init() {}

        /// Takes the members in order; of a key that comes twice the last value stays, in the first place.
        public init(_ members: [Element]) {
            pairs.reserveCapacity(members.count)
            for member in members { self[member.key] = member.value }
        }

        public var keys: [String] { pairs.map(\.key) }

        /// The value of a key.
        ///
        /// Setting nil removes the member; a new key goes to the end.
        public subscript(key: String) -> JSON? {
            get { place(of: key).map { pairs[$0].value } }
            set {
                guard let newValue else { return remove(key) }
                if let place = place(of: key) {
                    pairs[place].value = newValue
                } else {
                    append(key, newValue)
                }
            }
        }

        /// Adds a member unless its key is taken; whether it did.
        mutating func insert(_ key: String, _ value: JSON) -> Bool {
            guard place(of: key) == nil else { return false }
            append(key, value)
            return true
        }

        private func place(of key: String) -> Int? {
            guard pairs.count > Self.scanLimit else { return pairs.firstIndex { sameBytes($0.key, key) } }
            return places[ByteKey(key)]
        }

        private mutating func append(_ key: String, _ value: JSON) {
            pairs.append((key, value))
            if pairs.count > Self.scanLimit + 1 {
                places[ByteKey(key)] = pairs.count - 1
            } else if pairs.count == Self.scanLimit + 1 {
                indexAll()
            }
        }

        private mutating func remove(_ key: String) {
            guard let place = place(of: key) else { return }
            pairs.remove(at: place)
            indexAll()
        }

        private mutating func indexAll() {
            places = [:]
            guard pairs.count > Self.scanLimit else { return }
            for (place, pair) in pairs.enumerated() { places[ByteKey(pair.key)] = place }
        }
    }
}

extension JSON.Object: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { pairs.count }
    public subscript(position: Int) -> Element { pairs[position] }
}

extension JSON.Object: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // A sum does not depend on the order of the members.
        var sum = 0
        for member in self {
            var one = Hasher()
            one.combine(ByteKey(member.key))
            one.combine(member.value)
            sum &+= one.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

extension JSON.Object: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}
