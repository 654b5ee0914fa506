package keys

import (
	"fmt"
	"strings"
)

const slash = "/"

// Hierarchy joins the segments of a path: documents/2024/report.pdf. A segment must not be empty or contain a slash.
func Hierarchy(segments ...string) (string, error) {
	if len(segments) == 0 {
		return "", fmt.Errorf("%w: a path needs at least one segment", ErrPart)
	}
	for i, segment := range segments {
		if err := check(fmt.Sprintf("segment at index %d", i), segment); err != nil {
			return "", err
		}
		if strings.Contains(segment, slash) {
			return "", fmt.Errorf("%w: the segment at index %d, %s, contains a slash", ErrPart, i, excerpt(segment))
		}
	}
	return strings.Join(segments, slash), nil
}

// ParseHierarchy splits a path at its slashes. It accepts exactly what Hierarchy returns.
func ParseHierarchy(key string) ([]string, error) {
	segments := strings.Split(key, slash)
	if _, err := Hierarchy(segments...); err != nil {
		return nil, fmt.Errorf("path %s: %w", excerpt(key), err)
	}
	return segments, nil
}

// HierarchyPrefix returns the common prefix of all keys below a path, for begins_with. It ends in a slash; without it,
// root/folder1 would also match the keys in root/folder10. The key of the path itself does not have the prefix.
func HierarchyPrefix(segments ...string) (string, error) {
	key, err := Hierarchy(segments...)
	if err != nil {
		return "", err
	}
	return key + slash, nil
}

// Pair is the primary key of an item.
type Pair struct{ PK, SK string }

// Adjacency returns the keys of the two items that an edge of a graph is stored as: forward is found from the source,
// backward from the target.
func Adjacency(source, target string) (forward, backward Pair, err error) {
	if err := check("source", source); err != nil {
		return Pair{}, Pair{}, err
	}
	if err := check("target", target); err != nil {
		return Pair{}, Pair{}, err
	}
	return Pair{source, target}, Pair{target, source}, nil
}
