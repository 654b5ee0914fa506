// Package hanging has a test that starts a process and does not end.
package hanging
