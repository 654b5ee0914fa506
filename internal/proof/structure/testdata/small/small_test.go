package small

func (s *Store) OnlyInTests() {}
