// Package console is the screen of heatsink top: a model that takes rounds of
// figures and keystrokes, and a view that is a pure function of it. The model
// asks nobody for anything: the command feeds it.
//
// A round.Round is what it is fed, fold.go makes logical keys of shards, past.go
// keeps trends, rows.go makes the list, and view.go with columns.go draws it.
// words.go quotes what this terminal cannot show.
package console
