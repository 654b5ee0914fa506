package ledger

// Share lets the strong reads of a process share reads of one key's ledger. A read may share a request only if that is
// sent after the read began: one that is in flight already may miss what was acknowledged since. So there is one request
// in flight at most, and all who come meanwhile wait for the next.
type Share struct {
	Breaks Breaks

	flight int64 // the number of the last request that was started
	flying bool
	wanted bool // somebody waits for the next
}

// Join returns the number of the request that the caller shares, and whether the caller starts it now. If not, whoever
// calls Landed is told to.
func (s *Share) Join() (flight int64, start bool) {
	if !s.flying {
		s.flight++
		s.flying = true
		return s.flight, true
	}
	if s.Breaks.JoinInFlight {
		return s.flight, false
	}
	s.wanted = true
	return s.flight + 1, false
}

// Landed says that the request in flight was answered, or is given up. It returns the number of the next, and whether that
// is to be started now.
func (s *Share) Landed() (flight int64, start bool) {
	s.flying = false
	if !s.wanted {
		return s.flight, false
	}
	s.wanted = false
	return s.Join()
}
