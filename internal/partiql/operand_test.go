package partiql_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/partiql"
)

func TestOperands(t *testing.T) {
	for _, test := range []struct{ statement, want string }{
		{`SELECT * FROM "views" WHERE pk = 'a' AND sk = 7`, "pk='a' sk=7"},
		{`SELECT * FROM "views"."byDay" WHERE ? = pk AND sk > ?`, "pk=?1"},
		{`SELECT * FROM views WHERE pk = 'a' OR pk = 'b'`, ""},
		{`SELECT * FROM views WHERE (pk = ? AND sk = ?) AND size(x) > 1`, "pk=?1 sk=?2"},
		{`SELECT * FROM views WHERE pk IN ['a', 'b']`, ""},
		{`SELECT * FROM views WHERE a.b = 'x' AND pk = other`, ""},
		{`SELECT * FROM views`, ""},
		{`UPDATE views SET n = n + 1 WHERE pk = ? AND sk = '1'`, "pk=?1 sk='1'"},
		{`UPDATE views SET n = ? WHERE pk = ? AND sk = ?`, "pk=?2 sk=?3"},
		{`DELETE FROM views WHERE pk = -1`, "pk=-1"},
		{`INSERT INTO views VALUE {'pk': ?, 'sk': 's', 'n': 3}`, "n=3 pk=?1 sk='s' whole"},
		{`INSERT INTO views VALUE {'pk': 'a', 'tags': [1, 2]}`, "pk='a'"},
		{`EXISTS(SELECT * FROM views WHERE pk = ? AND sk = ?)`, "pk=?1 sk=?2"},
	} {
		s, err := partiql.Parse(test.statement)
		if err != nil {
			t.Errorf("%s: %v", test.statement, err)
			continue
		}
		all, whole := s.Operands()
		var list []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			o := all[name]
			text := fmt.Sprint("?", o.Param)
			switch {
			case o.Param == 0 && o.Value.Kind.String() == "S":
				text = "'" + o.Value.Str + "'"
			case o.Param == 0:
				text = o.Value.Number().String()
			}
			list = append(list, name+"="+text)
		}
		if whole {
			list = append(list, "whole")
		}
		if got := strings.Join(list, " "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.statement, got, test.want)
		}
	}
}
