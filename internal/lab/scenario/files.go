package scenario

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed files/*.yaml
var files embed.FS

// Files returns the names of the scenarios that ship with heatsink, in their order.
func Files() []string {
	names, err := fs.Glob(files, "files/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".yaml")
	}
	return names
}

// Source returns the YAML of a scenario that ships with heatsink.
func Source(name string) ([]byte, error) {
	text, err := files.ReadFile("files/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there is no scenario %q; there are %s", name, strings.Join(Files(), ", "))
	}
	return text, nil
}

// Find returns a scenario that ships with heatsink.
func Find(name string) (Scenario, error) {
	text, err := Source(name)
	if err != nil {
		return Scenario{}, err
	}
	return Parse(name+".yaml", text)
}
