// Package scenario describes experiments of the lab: a Scenario has a table, a load and the layouts to compare under it.
// Parse reads one from YAML and refuses everything that it does not know, with the line and what is allowed there. Files
// has the scenarios that ship with heatsink.
//
// Everything here is data and arithmetic. Package simulate runs scenarios.
package scenario
