// Package gather reads many sorted shards as one sorted sequence.
//
// It does not know how a shard is stored or what an entry means. A Shard fetches pages of entries, and each Entry has a
// sort value and a size. The package decides which shard to read, when, and how much:
//
//   - config.go is what the caller asks for, shard.go what it provides;
//   - gather.go is the loop, merge.go the order, cursor.go the state of one shard: the next entry is known when every shard has an entry to compare, or is at its end;
//   - stage.go reads stages one after another, each with its own shards, beside shards that all stages share;
//   - addition.go adds sources to a stage that is already being read;
//   - prefetch.go reads ahead, and request.go tracks the requests in flight;
//   - pagesize.go determines how many entries to request, based on the History of earlier reads (history.go);
//   - memory.go reserves memory for each request, and eviction.go drops the entries that are needed last;
//   - hedge.go sends slow requests a second time;
//   - scatter.go reads shards independently where order does not matter.
package gather
