// Package failing has a test that fails before anything is broken.
package failing
