// Package answer brings the answers of DynamoDB engines into a form in which they can be compared, and says how two of them differ.
// It sends nothing.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Answer is what an engine answers to a request.
type Answer struct {
	Type     string // of the exception, without its namespace; nothing if the request succeeded
	Message  string // of the exception
	Body     any    // all else that must be equal
	Capacity any    // ConsumedCapacity, which not every engine counts
}

// Read reads the answer to an operation.
func Read(operation string, status int, body []byte) (Answer, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return Answer{}, fmt.Errorf("%s: the answer with status %d is no JSON object: %w: %s", operation, status, err, cut(body))
	}
	var a Answer
	if status != 200 {
		kind, _ := fields["__type"].(string)
		a.Type = kind[strings.LastIndexByte(kind, '#')+1:]
		if a.Type == "" {
			a.Type = fmt.Sprintf("status %d", status)
		}
		for _, name := range []string{"message", "Message"} {
			if text, ok := fields[name].(string); ok {
				a.Message = text
			}
			delete(fields, name)
		}
		delete(fields, "__type")
	}
	a.Capacity = units(fields["ConsumedCapacity"])
	delete(fields, "ConsumedCapacity")
	tidy(fields)
	if tables, ok := fields["Responses"].(map[string]any); ok { // of a BatchGetItem, in no promised order
		for _, items := range tables {
			if list, ok := items.([]any); ok {
				sortByText(list)
			}
		}
	}
	if list, ok := a.Capacity.([]any); ok {
		sortByText(list)
	}
	a.Body = fields
	return a, nil
}

// units spells numbers in one way: 1 and 1.0 are the same capacity.
func units(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			v[name] = units(field)
		}
	case []any:
		for i, element := range v {
			v[i] = units(element)
		}
	case json.Number:
		if n, err := v.Float64(); err == nil {
			return n
		}
	}
	return v
}

// Join puts the pages of an answer together: all items in no order, and how many they are.
func Join(pages []Answer) Answer {
	if len(pages) == 0 {
		return Answer{}
	}
	for _, p := range pages {
		if p.Type != "" {
			return p
		}
	}
	items := []any{}
	all := map[string]any{}
	counts := map[string]int64{}
	for _, p := range pages {
		fields, _ := p.Body.(map[string]any)
		for name, v := range fields {
			switch v := v.(type) {
			case json.Number:
				n, _ := v.Int64()
				counts[name] += n
			case []any:
				items = append(items, v...)
			}
		}
	}
	sortByText(items)
	all["Items"] = items
	for name, n := range counts {
		all[name] = n
	}
	return Answer{Body: all}
}

// Next returns where the next page of an answer begins: the parameter that says so, and its value. There is none if the name is
// empty.
func Next(a Answer) (name string, value any) {
	fields, _ := a.Body.(map[string]any)
	if key, ok := fields["LastEvaluatedKey"]; ok {
		return "ExclusiveStartKey", key
	}
	if token, ok := fields["NextToken"]; ok {
		return "NextToken", token
	}
	return "", nil
}

// tidy sorts the elements of sets, takes out estimates, and leaves out what is empty or null: engines do one or the other.
func tidy(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if list, ok := field.([]any); ok && (name == "SS" || name == "NS" || name == "BS") {
				sortByText(list)
			}
			if field == nil || name == "SizeEstimateRangeGB" {
				delete(v, name)
				continue
			}
			tidy(field)
		}
		for _, name := range []string{"UnprocessedItems", "UnprocessedKeys"} {
			if m, ok := v[name].(map[string]any); ok && len(m) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for _, element := range v {
			tidy(element)
		}
	}
}

func sortByText(list []any) {
	texts := make(map[int]string, len(list))
	order := make([]int, len(list))
	for i, v := range list {
		texts[i], order[i] = JSON(v), i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(texts[a], texts[b]) })
	sorted := make([]any, len(list))
	for i, from := range order {
		sorted[i] = list[from]
	}
	copy(list, sorted)
}

// JSON is a value as JSON, with the fields of objects in order.
func JSON(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func cut(body []byte) string {
	const most = 300
	if len(body) > most {
		return string(body[:most]) + "…"
	}
	return string(body)
}
