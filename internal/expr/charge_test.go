package expr

import "testing"

// The charges are as measured on DynamoDB, by bisecting its limit on the size of updated items.
func TestUpdateCharge(t *testing.T) {
	values := item(obj{
		":one": 1, ":ten": "yyyyyyyyyy", ":list": list{"yyyyyyyyyy"}, ":map": obj{"a": "yyyyyyyyyy"}, ":set": set{"aaaaa", "bb"},
	})
	names := map[string]string{"#alias": "b"}
	const set = 3 + 19
	for _, c := range []struct {
		src  string
		want int
	}{
		{"SET b = :ten", set + 1 + 10},
		{"SET #alias = :ten", set + 1 + 10},
		{"SET b = :ten, c = :ten", set + 1 + 10 + 19 + 1 + 10},
		{"SET d.leaf = :ten", set + 1 + 4 + 4 + 10},
		{"SET d[10] = :ten", set + 1 + 4 + 2 + 10},
		{"SET c = abcdefghij", set + 1 + 1 + 14 + 10},
		{"SET c = m.a.z", set + 1 + 1 + 3*(14+1)},
		{"SET c = l[10]", set + 1 + 1 + 14 + 1 + 14 + 2},
		{"SET c = :map", set + 1 + 3 + 1 + 1 + 10},
		{"SET n = n + :one", set + 1 + 34 + 15 + 1 + 2},
		{"SET n = n - :one", set + 1 + 37 + 15 + 1 + 2},
		{"SET l = list_append(l, :list)", set + 1 + 37 + 15 + 1 + 3 + 1 + 10},
		{"SET c = if_not_exists(c, :ten)", set + 1 + 39 + 15 + 1 + 10},
		{"SET c = if_not_exists(c, :one) + :one", set + 1 + 34 + 39 + 15 + 1 + 2 + 2},
		{"ADD abcdefghij :one", set + 10 + 2},
		{"ADD ss :set", set + 2 + 7},
		{"DELETE abcdefghij :set", 3 + 1 + 10},
		{"REMOVE r", 3 + 1 + 1},
		{"REMOVE m.yyyyyyyyyy", 3 + 1 + 1 + 4 + 10},
		{"REMOVE l[1], l[10]", 3 + 1 + 1 + 4 + 1 + 1 + 1 + 4 + 2},
	} {
		u, err := ParseUpdate(c.src, NewScope(names, values))
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
		} else if got := u.Charge(); got != c.want {
			t.Errorf("%s: got %d, want %d", c.src, got, c.want)
		}
	}
	u := UpdateAttributes([]AttributeUpdate{{Name: "a", Action: "PUT", Value: new(value("yyyyyyyyyy"))}})
	if got := u.Charge(); got != 0 {
		t.Errorf("AttributeUpdates: got %d, want 0", got)
	}
}
