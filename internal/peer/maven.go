package peer

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	defaultMaven = "https://repo1.maven.org/maven2"
	// mavenVariable names another repository. Maven itself has no such variable.
	mavenVariable = "HEATSINK_MAVEN"
)

// mavenRepository returns the Maven repository that this machine is set up for: of the environment, else the mirror of
// Maven Central that the user's settings.xml names, else Maven Central.
func mavenRepository() (string, error) {
	if url := os.Getenv(mavenVariable); url != "" {
		return url, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return defaultMaven, nil // a cache directory can be had without a home
	}
	file := filepath.Join(home, ".m2", "settings.xml")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return defaultMaven, nil
	}
	if err != nil {
		return "", err
	}
	url, err := mirrorOfCentral(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w; mend it, or set %s to the address of a Maven repository", file, err, mavenVariable)
	}
	return cmp.Or(url, defaultMaven), nil
}

// mirrorOfCentral returns the first mirror in a settings.xml that stands for Maven Central, or nothing.
func mirrorOfCentral(settings []byte) (string, error) {
	var s struct {
		Mirrors []struct {
			Of  string `xml:"mirrorOf"`
			URL string `xml:"url"`
		} `xml:"mirrors>mirror"`
	}
	if err := xml.Unmarshal(settings, &s); err != nil {
		return "", err
	}
	for _, m := range s.Mirrors {
		for of := range strings.SplitSeq(m.Of, ",") {
			switch strings.TrimSpace(of) {
			case "*", "central", "external:*":
				return strings.TrimSpace(m.URL), nil
			}
		}
	}
	return "", nil
}
