package session

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
)

// version tells the states of a session's data apart, and the session from others that had its id before. As a text
// it is
//
//	birth.epoch.count.write
//
// birth is random and made with the session, epoch is the user's at that time, count is how often the data was
// written, and write is random and made with each of these writes: who lost an answer knows his write by it. Of two
// writes on top of one version, one succeeds: so if a count follows on that version's and the write is another's,
// one's own did not happen.
type version struct {
	birth string
	epoch int64
	count int64
	write string
}

func newVersion(epoch int64) version {
	return version{birth: random(), epoch: epoch, count: 1, write: random()}
}

// random returns 40 random bits, as text.
func random() string { return rand.Text()[:8] }

// next returns the version that a write on top of v has.
func (v version) next() version {
	v.count++
	v.write = random()
	return v
}

func (v version) String() string {
	return v.identity() + strconv.FormatInt(v.count, 10) + "." + v.write
}

// identity is what the texts of all versions of a session begin with.
func (v version) identity() string {
	return v.birth + "." + strconv.FormatInt(v.epoch, 10) + "."
}

func (v version) sameSession(w version) bool { return v.birth == w.birth && v.epoch == w.epoch }

func parseVersion(text string) (v version, err error) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 || parts[0] == "" || parts[3] == "" {
		return v, fmt.Errorf("%q is not the version of a session", text)
	}
	v.birth, v.write = parts[0], parts[3]
	if v.epoch, err = strconv.ParseInt(parts[1], 10, 64); err == nil {
		v.count, err = strconv.ParseInt(parts[2], 10, 64)
	}
	if err != nil {
		return v, fmt.Errorf("%q is not the version of a session: %w", text, err)
	}
	return v, nil
}
