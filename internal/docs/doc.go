// Package docs holds the tests of the documentation: its links lead somewhere, its programs compile and run, its commands
// exist and do what their page says, and its reference programs in other languages agree with Go.
//
// A comment in front of a block of code says what is to be done with it. A reader of the page does not see it.
//
//	<!-- needs AWS -->              commands that are checked, but not run: subcommand and flags exist
//	<!-- not run: why -->           the same, for another reason
//	<!-- file: before -->           a program that commands of the page run, as "go run ./before"
//	<!-- output -->                 what the program or the commands before it print
//	<!-- output, figures vary -->   the same, but numbers may differ
//
// Programs without a name of their own are run as they are. Commands of pages in the table sessions are run, in their
// order. Those of other pages need a mark that says why they are not.
package docs
