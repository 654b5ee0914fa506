package shared

func Two() int { return 2 }
