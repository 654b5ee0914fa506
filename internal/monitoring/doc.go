// Package monitoring tests what docs/monitoring gives to users: alert rules on
// Prometheus's own engine and on metrics that the product exports under load,
// the dashboard, and the CloudFormation template. It is a module of its own, so
// that nobody who uses heatsink inherits Prometheus.
package monitoring
