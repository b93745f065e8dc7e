import Domain

/// Items that a reader will not get, `from` to `to` including both.
struct Gap: Hashable, Sendable {
    enum Reason: String, Sendable {
        /// Too old, or past what its sender asked for.
        case expired
        /// The mailbox was full.
        case trimmed
        /// The reader's position is not one of this mailbox; it goes on after what it acknowledged.
        case reset
    }

    let from: Int64
    let to: Int64
    let reason: Reason
}

/// A mailbox as one statement saw it, together with the items of a page.
struct MailboxView: Sendable {
    let id: MailboxID
    let app: AppID
    let epoch: Int64
    let head: Int64
    let acked: Int64
    let trimmedThrough: Int64
    /// The position that was asked for is not one of this mailbox.
    let isReset: Bool
}

/// What follows a position: items in order, and every hole between them named.
struct MailboxPage: Sendable {
    enum Entry: Sendable {
        case item(Item)
        case gap(Gap)
    }

    let view: MailboxView
    /// In the order of sequence; a `reset` comes first.
    let entries: [Entry]
    /// Where a reader stands who has seen the page.
    let end: MailboxPosition

    /// Takes all items that there are from the start to the last of them, in order; `isCut` when more follow.
    init(view: MailboxView, after: Int64?, items: [Item], isCut: Bool) {
        var entries: [Entry] = []
        if view.isReset, let after { entries.append(.gap(Self.reset(view, after))) }
        // What was acknowledged is gone for its reader, even while it waits to be deleted: nothing is missed there.
        var seen = view.isReset ? view.acked : max(after ?? view.acked, view.acked)
        for item in items {
            entries += Self.hole(after: seen, before: item.seq, view)
            entries.append(.item(item))
            seen = item.seq
        }
        if !isCut {
            entries += Self.hole(after: seen, before: view.head + 1, view)
            seen = max(seen, view.head)
        }
        self.view = view
        self.entries = entries
        end = MailboxPosition(epoch: view.epoch, seq: seen)
    }

    var items: [Item] {
        entries.compactMap { entry in
            guard case .item(let item) = entry else { return nil }
            return item
        }
    }

    var gaps: [Gap] {
        entries.compactMap { entry in
            guard case .gap(let gap) = entry else { return nil }
            return gap
        }
    }

    private static func hole(after seen: Int64, before next: Int64, _ view: MailboxView) -> [Entry] {
        guard next > seen + 1 else { return [] }
        let last = next - 1
        let border = min(max(view.trimmedThrough, seen), last)
        var entries: [Entry] = []
        if border > seen { entries.append(.gap(Gap(from: seen + 1, to: border, reason: .trimmed))) }
        if last > border { entries.append(.gap(Gap(from: border + 1, to: last, reason: .expired))) }
        return entries
    }

    /// Everything between the void position and the one that the reader goes on from.
    private static func reset(_ view: MailboxView, _ after: Int64) -> Gap {
        let from = min(after, view.acked) + 1
        return Gap(from: from, to: max(after, view.acked, from), reason: .reset)
    }
}
