package move

import "sync"

// suspects are stored keys under which an item was found that is not in its calculated shard. So the stored key may be a logical key
// itself, and an item under it that is in its calculated shard may be there by chance. A mover keeps them as long as it lives.
type suspects struct {
	mu   sync.Mutex
	keys map[string]struct{}
	all  bool // there are too many to remember
}

const maxSuspects = 10_000 // of 2 KB at most

func (s *suspects) add(stored string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = make(map[string]struct{})
	}
	if s.keys[stored] = struct{}{}; len(s.keys) > maxSuspects {
		s.keys, s.all = nil, true
	}
}

func (s *suspects) has(stored string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.keys[stored]
	return ok || s.all
}
