// Package check runs the machines of package forward through all interleavings of a few processes that work on one id. Its DynamoDB
// is two slots. Every request takes effect at one instant. A process may stop between any two requests, and go on later. Any
// write may take effect once more, at any time until its stage has expired. A transaction checks and locks its items at one instant and
// commits at another, and only the latter explains its success: its other parts take effect then.
//
// After each answer it checks that some order of the operations explains all answers so far: that the id is one item, whatever
// becomes of its homes. One id is enough for that, because no request concerns two.
package check
