// Package browser tests the page of heatsink in a real browser. It is a module of its own, so that users do not inherit the driver
// of the browser.
package browser
