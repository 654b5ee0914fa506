package other

func Seen() {}
