/// A first-in-first-out line that neither shifts its elements on every removal nor grows without end.
public struct Line<Element> {
    private var elements: [Element?] = []
    private var head = 0

    public init() {}

    public var count: Int { elements.count - head }
    public var isEmpty: Bool { head == elements.count }
    public var first: Element? { isEmpty ? nil : elements[head] }

    public mutating func append(_ element: Element) {
        elements.append(element)
    }

    public mutating func prepend(_ element: Element) {
        guard head > 0 else { return elements.insert(element, at: 0) }
        head -= 1
        elements[head] = element
    }

    public mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes the first element that the test accepts, wherever it stands.
    public mutating func remove(where test: (Element) -> Bool) -> Element? {
        for index in head..<elements.count {
            guard let element = elements[index], test(element) else { continue }
            elements.remove(at: index)
            return element
        }
        return nil
    }

    public mutating func removeAll() -> [Element] {
        let all = elements[head...].compactMap(\.self)
        elements.removeAll()
        head = 0
        return all
    }
}
