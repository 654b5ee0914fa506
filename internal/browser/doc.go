// Package browser tests the page of heatsink in a real browser. It is a module of its own, so that users do not inherit the driver
// of the browser. Two commands are beside it: frames measures how long the page takes to draw, and shots makes the pictures of the
// documentation.
package browser
