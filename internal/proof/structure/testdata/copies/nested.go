package copies

var nested, other = [...]func(){
	func() {
		func() {
			func() {
				unlike++
			}()
		}()
	},
}, func() {}

type Set map[int]bool

// Add has a comment, which is no part of its lines.
func (s Set) Add(i int) {
	s[i] = true
}
