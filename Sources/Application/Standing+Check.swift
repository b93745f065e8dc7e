import Domain
import Store

extension Migrator.Standing {
    /// Refuses a schema that this binary cannot serve from, in words that say what to do.
    func check() throws(Failure) {
        switch self {
        case .current: return
        case .behind(let names):
            throw .broken(cause: "the schema lacks \(names.joined(separator: ", ")): run enfilade migrate")
        case .ahead(let name): throw .broken(cause: "the schema has \(name), which needs a newer enfilade")
        case .altered(let name): throw .broken(cause: "the migration \(name) was applied with other content")
        case .lacksRole:
            throw .broken(cause: "the role enfilade_app does not exist: create it, then run enfilade migrate")
        }
    }
}
