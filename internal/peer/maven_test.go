package peer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMavenRepository(t *testing.T) {
	mirror := func(of, url string) string {
		return "<mirror><id>m</id><mirrorOf>" + of + "</mirrorOf><url>" + url + "</url></mirror>"
	}
	for _, c := range []struct{ name, settings, variable, want string }{
		{name: "nothing said", want: defaultMaven},
		{name: "no mirrors", settings: "<settings></settings>", want: defaultMaven},
		{name: "of central", settings: "<settings><mirrors>" + mirror("central", " https://m.example/a ") + "</mirrors></settings>", want: "https://m.example/a"},
		{name: "of everything", settings: "<settings><mirrors>" + mirror("other", "https://no.example") + mirror("x, *", "https://m.example") + "</mirrors></settings>", want: "https://m.example"},
		{name: "of others", settings: "<settings><mirrors>" + mirror("other", "https://no.example") + "</mirrors></settings>", want: defaultMaven},
		{name: "environment", settings: "<settings><mirrors>" + mirror("*", "https://no.example") + "</mirrors></settings>", variable: "https://m.example", want: "https://m.example"},
		{name: "broken", settings: "<settings>", want: "error: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv(mavenVariable, c.variable)
			if c.settings != "" {
				if err := os.Mkdir(filepath.Join(home, ".m2"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, ".m2", "settings.xml"), []byte(c.settings), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := mavenRepository()
			if err != nil {
				if !strings.Contains(err.Error(), mavenVariable) {
					t.Errorf("got %v, want what to do", err)
				}
				got = "error: "
			}
			if got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
