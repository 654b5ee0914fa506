package heat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// The JSON of a layout is what reports have always had, and is read back as the same layout.
func TestLayoutAsJSON(t *testing.T) {
	for want, l := range map[string]heat.Layout{
		`{"table":"","shards":4}`: {Layout: layout.Layout{Shards: 4}},
		`{"table":"views","index":"byDay","shards":200,"widths":true,"prefix":".","first":1,"width":3,"bareZero":true,"unsharded":true,` +
			`"bucket":"hour","bucketPrefix":"/","hourMark":"-"}`: {
			Resource: heat.Resource{Table: "views", Index: "byDay"}, Widths: true, Unsharded: true,
			Layout: layout.Layout{Shards: 200, Bucket: layout.Hour, Format: layout.Format{
				BucketPrefix: "/", HourMark: "-", ShardPrefix: ".", First: 1, Width: 3, BareZero: true,
			}},
		},
		`{"table":"views","shards":4,"bucket":"any"}`: {
			Resource: heat.Resource{Table: "views"}, Layout: layout.Layout{Shards: 4}, AnyBucket: true,
		},
		`{"table":"","shards":4,"strategy":"calculated","hash":"md5"}`: {
			Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.MD5},
		},
	} {
		text, err := json.Marshal(l)
		if err != nil || string(text) != want {
			t.Errorf("got %s, %v, want %s", text, err, want)
		}
		var back heat.Layout
		if err := json.Unmarshal([]byte(want), &back); err != nil || back != l {
			t.Errorf("%s: got %+v, %v, want %+v", want, back, err, l)
		}
	}
	if text, err := json.Marshal(heat.Layout{Layout: layout.Layout{Shards: 4, Bucket: 9}}); err == nil {
		t.Errorf("a bucket that does not exist: got %s, want an error", text)
	}
	kept := heat.Layout{Layout: layout.Layout{Shards: 7}}
	err := json.Unmarshal([]byte(`{"shards":4,"bucket":"decade"}`), &kept)
	if err == nil || !strings.Contains(err.Error(), `unknown bucket "decade"`) || kept.Layout.Shards != 7 {
		t.Errorf("got %+v, %v, want the layout as it was and an error that names the bucket", kept, err)
	}
}

// Layouts whose readers ask for the same keys do not contradict each other.
func TestLayoutsThatReadTheSame(t *testing.T) {
	err := heat.Options{Layouts: []heat.Layout{
		{Layout: layout.Layout{Shards: 4}},
		{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.MD5, Format: layout.Format{}.WithDefaults()}},
	}}.Validate()
	if err != nil {
		t.Errorf("got %v, want none", err)
	}
}

// What no layout writes as a bucket is none: such a key is a key of its own, and no stray.
func TestImpossibleBuckets(t *testing.T) {
	for key, stray := range map[string]int64{"A#2024-12-02#SHARD_9": 1, "A#2024-13-02#SHARD_9": 0, "A#2023-02-29#SHARD_9": 0} {
		recorder := newRecorder(t, heat.Options{
			Keys: map[string][]string{"views": {"pk"}}, Layouts: []heat.Layout{{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}}},
		})
		heat.Observe(recorder, "views", heat.Write, []byte(key), 1)
		got := int64(0)
		for _, s := range recorder.Report().Resources[0].Writes.Sharded {
			got += s.Stray
		}
		if got != stray {
			t.Errorf("%s: got %d strays, want %d", key, got, stray)
		}
	}
}
