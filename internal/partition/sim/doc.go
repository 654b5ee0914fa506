// Package sim runs clients against the physics of package partition in virtual
// time: hours in a second, at the level of requests, without items, storage or
// wire.
//
// A Sim lets Clients act in the order of time. Stream and Loader are two clients,
// each with a Tally of what became of its requests.
//
// Scenarios repeats on it what AWS and others have measured or promised, and
// WriteFidelity puts our figures beside theirs.
package sim
