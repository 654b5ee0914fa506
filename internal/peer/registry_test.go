package peer

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRegistry(t *testing.T) {
	for _, c := range []struct {
		name, npmrc, lower, upper, want string
	}{
		{name: "nothing said", want: defaultRegistry},
		{name: "npmrc", npmrc: "registry=https://npm.example/a/", want: "https://npm.example/a/"},
		{
			name:  "npmrc with more in it",
			npmrc: "; registry=https://no.example\n#registry=https://no.example\nfund=false\r\n registry = \"https://npm.example\" \r\n@scope:registry=https://no.example\n",
			want:  "https://npm.example",
		},
		{name: "npmrc twice", npmrc: "registry=https://no.example\nregistry=https://npm.example\n", want: "https://npm.example"},
		{name: "npmrc without", npmrc: "fund=false\n", want: defaultRegistry},
		{name: "environment", npmrc: "registry=https://no.example", lower: "https://npm.example", upper: "https://no.example", want: "https://npm.example"},
		{name: "upper case", npmrc: "registry=https://no.example", upper: "https://npm.example", want: "https://npm.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			t.Setenv("NPM_CONFIG_REGISTRY", c.upper)
			t.Setenv("npm_config_registry", c.lower)
			if c.npmrc != "" {
				if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(c.npmrc), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := registry()
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
