// Package corpus has key schemas as public documentation of single-table designs describes them, in our own words, with
// workloads and the findings that a reader of that documentation would expect. It is for tests and for internal/proof/heat.
//
// A schema is in one of two halves, by a hash of its name: Tuned is the half that the rules were tuned on, and the other is
// kept apart to measure them. Everything is generated from seeds.
package corpus
