package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// script is a sequence of numbers that decide how requests are changed. When it is
// at its end, requests are sent as they are.
type script struct {
	parts *parts
	left  []byte
}

// next returns the next number below n.
func (s *script) next(n int) int {
	if n <= 1 {
		return 0
	}
	value := 0
	for size := n - 1; size > 0 && len(s.left) > 0; size >>= 8 {
		value, s.left = value<<8|int(s.left[0]), s.left[1:]
	}
	return value % n
}

// change returns what becomes of a request. A nil script changes nothing.
func (s *script) change(operation, body string) (changedOperation, changedBody string) {
	if s == nil || len(s.left) == 0 {
		return operation, body
	}
	root := parseNode(body)
	if root == nil {
		return operation, body
	}
	for range s.next(6) {
		if s.next(16) == 15 {
			operation = pick(s, s.parts.operations)
			continue
		}
		s.edit(pick(s, root.all(nil)))
	}
	return operation, string(root.append(nil))
}

func pick[T any](s *script, all []T) T { return all[s.next(len(all))] }

// edit changes one node.
func (s *script) edit(n *node) {
	at := s.next(max(len(n.children), 1))
	switch kind := s.next(8); {
	case kind == 0:
		*n = *parseNode(pick(s, oddNodes))
	case kind == 1:
		*n = *parseNode(pick(s, s.parts.nodes))
	case n.scalar != nil && kind < 6:
		s.editText(n)
	case len(n.children) == 0 || n.names != nil && kind >= 6:
		member := pick(s, s.parts.members)
		if n.scalar == nil && n.names != nil {
			n.names = append(n.names, member.name)
			n.children = append(n.children, parseNode(member.value))
		}
	case kind == 2:
		n.children = slices.Delete(n.children, at, at+1)
		if n.names != nil {
			n.names = slices.Delete(n.names, at, at+1)
		}
	case kind == 3 && n.names != nil:
		n.names[at] = pick(s, s.parts.members).name
	case kind == 4: // two of them change places
		other := s.next(len(n.children))
		n.children[at], n.children[other] = n.children[other], n.children[at]
	default:
		for range 1 << s.next(8) { // many of the same
			n.children = append(n.children, parseNode(string(n.children[at].append(nil))))
			if n.names != nil {
				n.names = append(n.names, n.names[at])
			}
		}
	}
}

// editText changes a text word by word, so that an expression stays one more often.
func (s *script) editText(n *node) {
	var text string
	if json.Unmarshal(n.scalar, &text) != nil {
		*n = *parseNode(pick(s, s.parts.nodes))
		return
	}
	words := strings.Split(text, " ")
	at := s.next(len(words))
	switch s.next(4) {
	case 0:
		words = slices.Delete(words, at, at+1)
	case 1:
		words[at] = pick(s, s.parts.words)
	case 2:
		words = slices.Insert(words, at, pick(s, s.parts.words))
	default:
		words = slices.Insert(words, at, slices.Repeat(words[at:], 1<<s.next(7))...)
	}
	n.scalar, _ = json.Marshal(strings.Join(words, " "))
}

// oddNodes take the place of others.
var oddNodes = []string{
	`null`, `true`, `0`, `-1`, `1`, `2147483648`, `9223372036854775808`, `1e999`, `0.5`, `""`, `"x"`, `"\u0000"`, `"ä"`, `[]`, `{}`, `[[[[[[[[]]]]]]]]`,
	`{"":{"":{}}}`, `{"S":""}`, `{"N":""}`, `{"N":"1e126"}`, `{"N":"-0"}`, `{"N":"1e-130"}`, `{"N":"NaN"}`, `{"N":"0.00000000000000000000000000000000000001"}`,
	`{"B":""}`, `{"B":"?"}`, `{"SS":[]}`, `{"SS":["a","a"]}`, `{"NS":["1","1.0"]}`, `{"BS":[""]}`, `{"NULL":false}`, `{"L":[]}`, `{"M":{}}`, `{"M":{"":{"S":""}}}`, `{"S":"a","N":"1"}`,
	`"` + strings.Repeat("k", 3000) + `"`, strings.Repeat(`{"M":{"a":`, 40) + `{"S":"deep"}` + strings.Repeat(`}}`, 40), strings.Repeat(`{"L":[`, 33) + strings.Repeat(`]}`, 33),
	`"` + strings.Repeat("(", 500) + `a"`, `"` + strings.Repeat("NOT ", 500) + `a"`, `"SELECT * FROM wide WHERE ` + strings.Repeat("pk = 'a' OR ", 60) + `sk = 1"`,
}

// parts is what requests are made of.
type parts struct {
	operations []string
	nodes      []string // JSON
	words      []string // of texts
	members    []namedPart
}

type namedPart struct{ name, value string }

// partsOf takes the lines of conversations apart.
func partsOf(conversations []string) *parts {
	p := &parts{}
	nodes, words, members := map[string]bool{}, map[string]bool{}, map[namedPart]bool{}
	for _, c := range conversations {
		for line := range strings.Lines(c) {
			_, body, _ := strings.Cut(line, " ")
			root := parseNode(body)
			if root == nil {
				continue
			}
			for _, n := range root.all(nil) {
				nodes[string(n.append(nil))] = true
				for i, name := range n.names {
					members[namedPart{name, string(n.children[i].append(nil))}] = true
				}
				var text string
				if n.scalar != nil && json.Unmarshal(n.scalar, &text) == nil {
					for word := range strings.FieldsSeq(text) {
						words[word] = true
					}
				}
			}
		}
	}
	for target := range operations {
		_, operation, _ := strings.Cut(target, ".")
		p.operations = append(p.operations, operation)
	}
	slices.Sort(p.operations)
	p.nodes, p.words = slices.Sorted(maps.Keys(nodes)), slices.Sorted(maps.Keys(words))
	p.members = slices.SortedFunc(maps.Keys(members), func(a, b namedPart) int {
		return strings.Compare(a.name+"\x00"+a.value, b.name+"\x00"+b.value)
	})
	return p
}

// node is a JSON value. An object may have a member twice.
type node struct {
	scalar   json.RawMessage // nil: an object or an array
	names    []string        // of the children; nil: an array
	children []*node
}

// parseNode returns nil for what is no JSON.
func parseNode(text string) *node {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return readNode(d)
}

func readNode(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		return nil
	}
	open, nested := token.(json.Delim)
	if !nested {
		scalar, err := json.Marshal(token)
		if err != nil {
			return nil
		}
		return &node{scalar: scalar}
	}
	n := &node{}
	if open == '{' {
		n.names = []string{}
	}
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return nil
			}
			n.names = append(n.names, name.(string))
		}
		child := readNode(d)
		if child == nil {
			return nil
		}
		n.children = append(n.children, child)
	}
	if _, err := d.Token(); err != nil {
		return nil
	}
	return n
}

// all appends the node and all inside of it.
func (n *node) all(dst []*node) []*node {
	dst = append(dst, n)
	for _, c := range n.children {
		dst = c.all(dst)
	}
	return dst
}

// append appends the node as JSON.
func (n *node) append(dst []byte) []byte {
	if n.scalar != nil {
		return append(dst, n.scalar...)
	}
	brackets := "[]"
	if n.names != nil {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, c := range n.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.names != nil {
			name, _ := json.Marshal(n.names[i])
			dst = append(append(dst, bytes.TrimSpace(name)...), ':')
		}
		dst = c.append(dst)
	}
	return append(dst, brackets[1])
}
