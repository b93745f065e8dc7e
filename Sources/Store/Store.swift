// Store: what every transaction can do. Run statements, record an audit deed, name a doorbell that rings after commit;
// and the few facts that two features must read or lock in one transaction.
//
// No feature's table is written here except through a named method of a fact that several features share.
