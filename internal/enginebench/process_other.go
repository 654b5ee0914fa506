//go:build !linux

package main

import (
	"syscall"
	"time"
)

// Without Linux's signals and /proc the servers idle instead of being frozen, and memory and processor time are
// reported as unknown.

func childAttributes() *syscall.SysProcAttr { return nil }

func (p *process) pause() error { return nil }

func (p *process) resume() error { return nil }

func residentBytes(int) (int64, error) { return 0, nil }

func cpuTime(int) (time.Duration, error) { return 0, nil }
