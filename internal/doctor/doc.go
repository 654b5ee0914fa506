// Package doctor examines whether heatsink can work with a table: who asks, which server answers, what that permits, and what
// the table holds. Each check ends as ok, warning, problem or unknown, with what was found and what to do about it. A check that
// cannot be made says why, and the others go on.
//
// It reads. With Options.TryWrites it also sends writes whose condition is never true, to learn whether they are permitted.
package doctor
