package heatsink

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/layout"
)

// pastItems is how many items each cell of the table in docs/layouts.md is about: enough for every shard to have some.
const pastItems = 40

// TestLayoutTable does what each cell of the table in docs/layouts.md is about, and compares what happened with its words.
func TestLayoutTable(t *testing.T) {
	columns, rows := layoutTable(t)
	client := onItems(t)
	cells, seen := 0, map[string]bool{}
	for _, strategy := range []layout.Strategy{layout.Random, layout.Calculated} {
		for _, format := range []string{"suffix", "BareZero"} {
			for _, past := range []string{"unsharded", "4 shards"} {
				for _, declared := range []string{"no", "Older", "Widths", "Movable"} {
					name := strings.Join([]string{strategy.String(), format, past, declared}, ", ")
					row, ok := rows[name]
					if !ok {
						t.Errorf("there is no row %s", name)
						continue
					}
					seen[name] = true
					for i, column := range columns {
						cells++
						t.Run(name+"/"+column, func(t *testing.T) {
							s := newPast(t, client, t.Name(), strategy, format, past, declared)
							if got := s.word(column); got != row[i] {
								t.Errorf("the table says %q, and it is %q", row[i], got)
								cells--
							}
						})
					}
				}
			}
		}
	}
	if len(seen) != len(rows) {
		t.Errorf("the table has %d rows, of which %d are known", len(rows), len(seen))
	}
	t.Logf("layout table: %d cells hold", cells)
}

// layoutTable returns the columns of the table behind those that name a row, and its rows.
func layoutTable(t *testing.T) (columns []string, rows map[string][]string) {
	t.Helper()
	page, err := os.ReadFile("docs/layouts.md")
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string][]string{}
	for line := range strings.Lines(string(page)) {
		line = strings.Trim(strings.TrimSpace(line), "|")
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], "`", ""))
		}
		switch {
		case len(cells) != 11 || strings.HasPrefix(cells[0], "-"):
		case cells[0] == "strategy":
			columns = cells[4:]
		default:
			name := strings.Join(cells[:4], ", ")
			if rows[name] != nil {
				t.Errorf("there are two rows %s", name)
			}
			rows[name] = cells[4:]
		}
	}
	if len(columns) == 0 {
		t.Fatal("docs/layouts.md has no table")
	}
	return columns, rows
}

// past is a key with items that were written in another way than the collection does now.
type past struct {
	*testing.T
	client *dynamodb.Client
	items  *Collection[Item]
	key    string
	ids    []string
	listed map[string]int // how often a query returns an id, once it was asked
}

func newPast(t *testing.T, client *dynamodb.Client, key string, strategy layout.Strategy, format, before, declared string) *past {
	t.Helper()
	now := layout.Layout{Shards: 16, Strategy: strategy}
	now.Format.BareZero = format == "BareZero"
	then := layout.Layout{}
	if before == "4 shards" {
		then = now.WithShards(4)
	}
	s := &past{T: t, client: client, key: key}
	old := openItems(t, client, Options{Layout: then, Rand: rand.NewPCG(1, 2)})
	for i := range pastItems {
		s.ids = append(s.ids, fmt.Sprint("id-", i))
		if _, err := old.Put(t.Context(), s.item(s.ids[i], 1)); err != nil {
			t.Fatal(err)
		}
	}
	options := Options{Layout: now, Rand: rand.NewPCG(3, 4)}
	switch declared {
	case "Older":
		options.Older = []layout.Layout{then}
	case "Widths":
		options.Widths = layout.Width{Write: 16, Read: 16}
	}
	if declared == "Movable" {
		then.Strategy = strategy
		s.items = openItems(t, client, Options{Layout: then, Rand: rand.NewPCG(3, 4), Movable: true, Name: fmt.Sprintf("m%x", sha256.Sum256([]byte(key)))[:64]})
		s.moveHalf(now)
		return s
	}
	s.items = openItems(t, client, options)
	return s
}

// moveHalf begins a move of the items to a layout, and stops in the middle of it.
func (s *past) moveHalf(to layout.Layout) {
	s.Helper()
	m := mover{s.T, s.items}
	m.enter(forward.Stage{Phase: forward.Split}, &to)
	if to.Strategy == layout.Random {
		moveList(s.T, s.items, s.client, s.key, 2, true)
		return
	}
	for i, id := range s.ids {
		if i%2 == 0 {
			m.move(s.key, id)
		}
	}
}

func (s *past) item(id string, n int) Item { return ov("pk", s.key, "sk", id, "n", n) }

// word does to every item what a column says, and returns what happened: if not the same to all, what happened to most first.
func (s *past) word(column string) string {
	counts := map[string]int{}
	for _, id := range s.ids {
		counts[s.outcome(column, id)]++
	}
	words := slices.Collect(maps.Keys(counts))
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return strings.Join(words, " or ")
}

func (s *past) outcome(column, id string) string {
	ctx, like := s.Context(), ov("pk", s.key, "sk", id)
	switch column {
	case "Get":
		got, err := s.items.Get(ctx, like)
		if err == nil {
			wantItem(s, id, got, s.item(id, 1))
		}
		return s.expect(err, "found")
	case "Put again":
		_, err := s.items.Put(ctx, s.item(id, 2))
		return s.expect(err, [...]string{"lost", "replaced", "second copy"}[len(s.copies(id))])
	case "conditional Put":
		_, err := s.items.Put(ctx, s.item(id, 2), func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(sk)") })
		return s.expect(err, [...]string{"lost", "replaced", "second copy"}[len(s.copies(id))])
	case "Update":
		_, err := s.items.Update(ctx, like, expression("SET n = :n", ":n", 2))
		copies := s.copies(id)
		if len(copies) == 1 && err == nil {
			wantItem(s, id, Item{"n": copies[0]["n"]}, ov("n", 2))
		}
		return s.expect(err, [...]string{"lost", "changed", "new item"}[len(copies)])
	case "Delete":
		_, err := s.items.Delete(ctx, like)
		return s.expect(err, [...]string{"deleted", "not deleted"}[len(s.copies(id))])
	case "Query":
		if s.listed == nil {
			got, err := all(ctx, s.items, Query{Key: s.key}, "sk")
			if err != nil {
				s.Error(err)
			}
			s.listed = map[string]int{}
			for _, sk := range got {
				s.listed[sk]++
			}
		}
		return [...]string{"not listed", "listed", "listed twice"}[s.listed[id]]
	case "Count":
		n, err := s.items.Count(ctx, Query{Key: s.key, Sort: Equal(id)})
		return s.expect(err, [...]string{"not counted", "counted", "counted twice"}[n])
	}
	s.Fatalf("nobody knows what %q is", column)
	return ""
}

// expect returns the word for an error, or the other one without.
func (s *past) expect(err error, word string) string {
	switch {
	case err == nil:
		return word
	case errors.Is(err, ErrNotFound):
		return "not found"
	case errors.Is(err, ErrScattered):
		return "ErrScattered"
	case errors.Is(err, ErrOptions):
		return "ErrOptions"
	case errors.As(err, new(*types.ConditionalCheckFailedException)):
		return "exists"
	}
	s.Error(err)
	return "error"
}

// copies returns the copies of an item, wherever they are.
func (s *past) copies(id string) []Item {
	keys := []Item{ov("pk", s.key, "sk", id)}
	for shard := range 16 {
		keys = append(keys, ov("pk", fmt.Sprintf("%s#SHARD_%d", s.key, shard), "sk", id))
	}
	out, err := s.client.BatchGetItem(s.Context(), &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{"items": {Keys: keys, ConsistentRead: aws.Bool(true)}},
	})
	if err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(out.Responses["items"], func(item map[string]types.AttributeValue) bool {
		return item["_hs_f"] != nil || item["_hs_d"] != nil // marks of a move, which no operation returns
	})
}
