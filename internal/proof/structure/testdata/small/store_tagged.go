//go:build tagged

package small

func (s *Store) Put()   { s.n = 2 }
func (s *Store) Close() {}
