package wire

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// Clients that do not read what is no operation's answer keep no others out.
func TestUnreadOtherAnswers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		_, h := getStub(t, Options{Unsigned: true})
		s := NewServer(h, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, 1<<20))
		}))
		connect, end := inMemory(t, s)
		defer end()
		const get = "GET /other HTTP/1.1\r\nHost: x\r\n\r\n"
		for range s.budget.other.size / otherWeight {
			if _, err := io.WriteString(connect(), get); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if free := s.budget.other.size - s.used(); free >= otherWeight {
			t.Fatalf("%d bytes are free: the test shows nothing", free)
		}
		conn := connect()
		if _, err := io.WriteString(conn, get); err != nil {
			t.Fatal(err)
		}
		if res, got := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK || len(got) != 1<<20 {
			t.Errorf("got %d and %d bytes", res.StatusCode, len(got))
		}
	})
}
