package peer

import "syscall"

// childAttributes keeps a terminal's Ctrl-C from reaching the servers, which whoever started them stops, and lets them
// die with this program should it be killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
