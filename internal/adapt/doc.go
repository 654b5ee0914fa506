// Package adapt drives the machines of package ledger on DynamoDB, for a collection whose keys change their widths while
// everything runs.
//
// A Book is what a process knows of a collection's keys. It has a page for each key in use: the view of its ledger. A Cover
// says which shards a read has, a Write which shard a write goes to. A Watch follows an operation, so that the law can
// decide when a key grows. Control are the control items in the table, which all of them read and write.
//
// Nothing runs in the background. What is due is sent beside an operation of the caller, and has ended when it returns.
package adapt
