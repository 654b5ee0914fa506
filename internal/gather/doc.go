// Package gather reads many sorted shards as one sorted sequence.
//
// It knows neither what a shard is stored in nor what an entry means: a Shard fetches pages of entries, and each Entry
// has a sort value and a size. The package decides which shard to ask, when, and for how much:
//
//   - gather.go merges: an entry is the next when every shard has one to compare with, or has no more;
//   - stage.go takes stages one after another, each with its own shards, beside those that run along all of them;
//   - prefetch.go reads ahead, and request.go keeps what is under way;
//   - pagesize.go says how many entries a page should have, from what History has seen of earlier reads;
//   - memory.go reserves memory for each request, and eviction.go drops entries that are needed last;
//   - hedge.go repeats requests that are late;
//   - scatter.go reads shards one by one, where the order does not matter.
package gather
