// Package report writes what became of a scenario: as a table for a terminal, as CSV, as JSON, and as one HTML file with
// plots. The figures are those of a simulate.Result; a report measures nothing.
package report
