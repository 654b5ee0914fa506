//go:build !linux

package peer

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
