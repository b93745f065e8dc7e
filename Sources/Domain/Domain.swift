// Domain: the product's vocabulary. Identifiers, who is calling, what is audited, why something is refused.
//
// Nothing here knows HTTP, SQL or JSON keys, and nothing here can wait.
