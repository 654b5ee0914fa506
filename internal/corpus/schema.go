package corpus

import (
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// role is what the keys of a schema's kind are.
type role int

const (
	many     role = iota // ids: as many keys as there are things
	constant             // one key for all items
	few                  // one key for each value of a small set
	current              // one key for each hour, day or month
	spread               // shards of one key, written evenly
)

// kind is one kind of key in a table or index.
type kind struct {
	role role
	of   string   // what it is of, in a word
	id   maker    // of many
	keys []string // of the others: all of them; of current the last is now
}

// schema is a table or index with the kinds of its keys.
type schema struct {
	name  string
	about string
	index string // the name of the index, if it is one
	kinds []kind
	told  []heat.Layout // of the shards, if the recorder is told
}

// ids, fixed, set, times and shards are kinds.
func ids(of string, id maker) kind { return kind{role: many, of: of, id: id} }

func fixed(key string) kind                 { return kind{role: constant, of: key, keys: []string{key}} }
func set(of string, keys ...string) kind    { return kind{role: few, of: of, keys: keys} }
func times(of string, keys ...string) kind  { return kind{role: current, of: of, keys: keys} }
func shards(of string, keys ...string) kind { return kind{role: spread, of: of, keys: keys} }

func each(prefix string, words ...string) []string {
	var all []string
	for _, word := range words {
		all = append(all, prefix+word)
	}
	return all
}

var (
	statuses = []string{"ACTIVE", "BANNED", "NEW", "PENDING"}
	lowered  = []string{"open", "closed", "waiting"}
	regions  = []string{"us-east-1", "eu-west-1", "ap-south-1", "sa-east-1"}
	days     = []string{"2026-06-18", "2026-06-19", "2026-06-20", "2026-06-21", "2026-06-22"}
	hours    = []string{"2026-06-22T12", "2026-06-22T13", "2026-06-22T14", "2026-06-22T15"}
	months   = []string{"2026-03", "2026-04", "2026-05", "2026-06"}
)

// schemas are those of the corpus.
var schemas = []schema{
	{
		name: "brand-protection", about: "alerts by brand, a log of operations and a list of all brands in one table",
		kinds: []kind{ids("THREAT", prefixed("THREAT#", brand)), fixed("OPS_LOG"), fixed("BRAND_INDEX")},
	},
	{
		name: "shop", about: "customers with their orders, and products",
		kinds: []kind{ids("CUSTOMER", prefixed("CUSTOMER#", number)), ids("PRODUCT", prefixed("PRODUCT#", padded))},
	},
	{name: "shop-uuid", about: "the same with UUIDs", kinds: []kind{ids("CUSTOMER", prefixed("CUSTOMER#", uuid)), ids("ORDER", prefixed("ORDER#", uuid))}},
	{name: "users-by-status", about: "users listed by their status", kinds: []kind{set("STATUS", each("STATUS#", statuses...)...)}},
	{name: "tickets-by-state", about: "an index of tickets by the bare attribute state", index: "byState", kinds: []kind{set("state", lowered...)}},
	{name: "orders-by-status", about: "an index of orders by the bare attribute status", index: "byStatus", kinds: []kind{set("status", statuses...)}},
	{name: "devices-by-region", about: "devices of a few cloud regions", kinds: []kind{set("REGION", each("REGION#", regions...)...)}},
	{name: "events-by-day", about: "events of a day under one key", kinds: []kind{times("EVENTS", each("EVENTS#", days...)...)}},
	{name: "events-by-hour", about: "events of an hour under one key", kinds: []kind{times("HOUR", each("HOUR#", hours...)...)}},
	{name: "clicks-by-day", about: "the date alone is the key", kinds: []kind{times("date", days...)}},
	{name: "sensor-month", about: "readings by sensor and month", kinds: []kind{ids("SENSOR", func() maker {
		return both(prefixed("SENSOR#", hex8), "#", oneOf(months...))
	}())}},
	{name: "forum", about: "threads by the name of their forum", kinds: []kind{ids("forum", both(upper(coin), " ", upper(coin)))}},
	{name: "forum-replies", about: "replies by forum and subject", kinds: []kind{ids("thread", both(coin, "#", slug))}},
	{name: "music", about: "songs by artist", kinds: []kind{ids("artist", both(coin, " ", coin))}},
	{name: "game-scores", about: "scores by user, as a bare number", kinds: []kind{ids("user", padded)}},
	{name: "game-titles", about: "an index of scores by title", index: "byTitle", kinds: []kind{ids("title", both(coin, " ", coin))}},
	{name: "chat", about: "messages by room, and rooms by member", kinds: []kind{ids("ROOM", prefixed("ROOM#", nanoid)), ids("MEMBER", prefixed("MEMBER#", nanoid))}},
	{name: "sessions", about: "sessions by token", kinds: []kind{ids("session", secret)}},
	{name: "sessions-prefixed", about: "sessions by token with a prefix", kinds: []kind{ids("sess", prefixed("sess:", hex64))}},
	{name: "url-shortener", about: "links by their short code", kinds: []kind{ids("link", short)}},
	{name: "unique-mail", about: "users, and a guard item for each mail address", kinds: []kind{ids("USER", prefixed("USER#", ulid)), ids("MAIL", prefixed("USEREMAIL#", email))}},
	{name: "repositories", about: "repositories by owner and name, with their issues", kinds: []kind{ids("REPO", both(prefixed("REPO#", coin), "#", coin)), ids("ACCOUNT", prefixed("ACCOUNT#", coin))}},
	{name: "tenants-lower", about: "the tenant's name begins the key", kinds: []kind{ids("tenant", func() maker { return both(coin, "#", oneOf("USER", "ORDER", "INVOICE")) }())}},
	{name: "tenants-upper", about: "tenants in capitals", kinds: []kind{ids("TENANT", prefixed("TENANT#", upper(both(coin, "", coin))))}},
	{name: "tenant-entity", about: "tenant, then entity, then id", kinds: []kind{ids("TENANT", both(both(prefixed("TENANT#", hex4), "#", oneOf("USER", "DOC")), "#", number))}},
	{name: "organisations", about: "organisations with users and projects under them", kinds: []kind{
		ids("USER", both(prefixed("ORG#", coin), "#USER#", number)), ids("PROJECT", both(prefixed("ORG#", coin), "#PROJECT#", number)),
	}},
	{name: "event-store", about: "aggregates of an event store, by type and id", kinds: []kind{ids("order", prefixed("order-", uuid)), ids("cart", prefixed("cart-", uuid))}},
	{name: "ledger", about: "accounts of a ledger with bookings", kinds: []kind{ids("ACCT", prefixed("ACCT-", both(drawn(digits, 4), "-", drawn(digits, 6)))), fixed("SUSPENSE")}},
	{name: "invoices", about: "invoices by year and number", kinds: []kind{ids("INV", prefixed("INV-2026-", padded))}},
	{name: "vehicles", about: "vehicles by plate", kinds: []kind{ids("plate", plate)}},
	{name: "fleet", about: "positions by vehicle, with a prefix in lower case", kinds: []kind{ids("veh", prefixed("veh_", hex8))}},
	{name: "phones", about: "messages by phone number", kinds: []kind{ids("TEL", prefixed("TEL#", phone))}},
	{name: "addresses", about: "rate limits by IP address", kinds: []kind{ids("ip", prefixed("ip#", address))}},
	{name: "locations", about: "shops by country, state and city", kinds: []kind{ids("place", func() maker {
		return both(oneOf("USA", "CAN", "MEX"), "#", both(drawn(uppers, 2), "#", upper(coin)))
	}())}},
	{name: "geo", about: "places by geohash", kinds: []kind{ids("GEO", prefixed("GEO#", geohash))}},
	{name: "paths", about: "files by their path", kinds: []kind{ids("path", func() maker { return both(both(coin, "/", coin), "/", slug) }())}},
	{name: "arns", about: "events by the name of a resource", kinds: []kind{ids("arn", prefixed("arn:aws:lambda:eu-west-1:123456789012:function:", slug))}},
	{name: "documents", about: "documents and their versions", kinds: []kind{ids("DOC", prefixed("DOC#", ksuid)), fixed("TEMPLATE")}},
	{name: "feature-flags", about: "flags of an application, all under one key", kinds: []kind{fixed("FLAGS")}},
	{name: "outbox", about: "an outbox of messages under one key, beside orders", kinds: []kind{fixed("OUTBOX"), ids("ORDER", prefixed("ORDER#", snowflake))}},
	{name: "jobs", about: "a queue of jobs by state", kinds: []kind{set("JOB", each("JOB#", "READY", "RUNNING", "DONE", "FAILED")...)}},
	{name: "jobs-priority", about: "a queue of jobs by priority in words", kinds: []kind{set("priority", each("priority#", "high", "normal", "low")...)}},
	{name: "counters", about: "counters of a site, one item each", kinds: []kind{set("COUNTER", each("COUNTER#", "VIEWS", "LIKES", "SHARES")...)}},
	{name: "entity-index", about: "an index that lists all items of a type", index: "GSI1", kinds: []kind{fixed("USER"), ids("ORDER", prefixed("ORDER#", number))}},
	{name: "log-index", about: "an index with one value for all log entries", index: "GSI1", kinds: []kind{fixed("OPS_LOG")}},
	{name: "log-levels", about: "log entries by level and day", kinds: []kind{times("LOG", each("LOG#ERROR#", days...)...)}},
	{name: "metrics", about: "metrics by host and name", kinds: []kind{ids("host", func() maker {
		return both(prefixed("host-", number), ".", oneOf("cpu", "disk", "net"))
	}())}},
	{name: "auctions", about: "bids by auction", kinds: []kind{ids("AUCTION", prefixed("AUCTION#", func() maker { return both(oneOf("2026", "2025"), "-", hex8) }()))}},
	{name: "posts", about: "posts with their comments", kinds: []kind{ids("POST", prefixed("POST#", number)), ids("USER", prefixed("USER#", coin))}},
	{name: "likes", about: "likes by post, with ULIDs", kinds: []kind{ids("POST", prefixed("post#", ulid))}},
	{name: "bookings", about: "bookings by hotel and day", kinds: []kind{ids("HOTEL", func() maker { return both(prefixed("HOTEL#", slug), "#", oneOf(days...)) }())}},
	{name: "votes-sharded", about: "votes of a poll over shards", kinds: []kind{
		shards("POLL#7", each("POLL#7#SHARD_", "0", "1", "2", "3", "4", "5", "6", "7")...), ids("VOTER", prefixed("VOTER#", hex8)),
	}},
	{name: "hour-sharded", about: "events of an hour over shards", kinds: []kind{shards("HOUR", each("HOUR#2026-06-22T15#SHARD#", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")...)}},
	{
		name: "views-sharded", about: "views of a page over shards that the recorder knows, and users",
		kinds: []kind{shards("VIEWS", each("VIEWS#SHARD_", "0", "1", "2", "3")...), ids("USER", prefixed("USER#", number))},
		told:  []heat.Layout{{Layout: layout.Layout{Shards: 4}}},
	},
	{
		name: "views-sharded-days", about: "the same with a key for every day",
		kinds: []kind{shards("VIEWS", each("VIEWS#2026-06-22#SHARD_", "0", "1", "2", "3")...), ids("USER", prefixed("USER#", number))},
		told:  []heat.Layout{{Layout: layout.Layout{Shards: 4, Bucket: layout.Day}}},
	},
	{
		name: "likes-widths", about: "likes of posts, some of which have more shards than others, from the bare key on",
		kinds: []kind{shards("POST", append([]string{"POST#1"}, each("POST#1#SHARD_", "1", "2", "3", "4", "5", "6", "7")...)...)},
		told:  []heat.Layout{{Layout: layout.Layout{Shards: 64, Format: layout.Format{BareZero: true}}, Widths: true}},
	},
	{
		name: "events-widths-days", about: "events by day, some of which have more shards than others",
		kinds: []kind{shards("EVENTS", each("EVENTS#2026-06-22#", "0", "1")...)},
		told:  []heat.Layout{{Layout: layout.Layout{Shards: 64, Bucket: layout.Day, Format: layout.PlainNumber()}, Widths: true}},
	},
	{name: "carts", about: "carts by user, with Mongo ids", kinds: []kind{ids("cart", prefixed("cart/", hex24))}},
	{name: "countries", about: "users by country code", kinds: []kind{set("COUNTRY", each("COUNTRY#", "US", "DE", "JP", "BR", "IN", "FR")...)}},
	{name: "plans", about: "an index of customers by plan", index: "byPlan", kinds: []kind{set("plan", "FREE", "PRO", "ENTERPRISE")}},
	{name: "leaderboard", about: "players of a few games, and their profiles", kinds: []kind{set("GAME", each("LEADERBOARD#", "CHESS", "GO", "POKER")...), ids("PLAYER", prefixed("PLAYER#", nanoid))}},
	{name: "config", about: "one configuration that everybody reads, and tenants", kinds: []kind{fixed("CONFIG#GLOBAL"), ids("TENANT", prefixed("TENANT#", slug))}},
	{name: "types-capitalised", about: "types as classes are called", kinds: []kind{ids("User", prefixed("User#", uuid)), ids("OrderItem", prefixed("OrderItem#", number)), fixed("AuditLog")}},
	{name: "suffix-types", about: "the id comes first, then the type", kinds: []kind{ids("USER", both(number, "#", oneOf("USER", "PROFILE", "SETTINGS")))}},
	{name: "hash-prefix", about: "two characters of a hash before a natural key", kinds: []kind{ids("user", both(drawn("0123456789abcdef", 2), "#user#", number))}},
	{name: "weekdays", about: "shifts by weekday", kinds: []kind{set("SHIFT", each("SHIFT#", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")...)}},
	{name: "booleans", about: "an index by a flag", index: "byDone", kinds: []kind{set("done", "true", "false")}},
	{name: "yes-no", about: "newsletter subscribers by Y or N", kinds: []kind{set("SUBSCRIBED", "SUBSCRIBED=Y", "SUBSCRIBED=N")}},
	{name: "compact-days", about: "events by a day without hyphens", kinds: []kind{times("EVT", each("EVT#", "20260618", "20260619", "20260620", "20260621", "20260622")...)}},
	{name: "weeks", about: "reports by week", kinds: []kind{times("REPORT", each("REPORT#", "2026-W20", "2026-W21", "2026-W22")...)}},
	{name: "dotted", about: "a topic of a broker, with dots", kinds: []kind{ids("topic", both(prefixed("orders.", coin), ".", number)), fixed("orders.deadletter")}},
	{name: "queries", about: "cached answers by the text of their query", kinds: []kind{ids("q", both(prefixed("q?city=", coin), "&page=", number))}},
	{name: "steps", about: "executions of a workflow by name and id", kinds: []kind{ids("exec", both(prefixed("wf/", oneOf("signup", "refund", "export")), "/", uuid))}},
	{name: "seats", about: "seats by show", kinds: []kind{ids("SHOW", prefixed("SHOW#", func() maker { return both(slug, "-", oneOf("2026", "2027")) }()))}},
	{name: "coupons", about: "redemptions by coupon code in capitals", kinds: []kind{ids("COUPON", prefixed("COUPON#", both(upper(coin), "", drawn(digits, 2))))}},
	{name: "locks", about: "a lock for each resource, and one for the leader", kinds: []kind{ids("LOCK", prefixed("LOCK#", slug)), fixed("LOCK#LEADER")}},
	{name: "teams", about: "a few teams in lower case", kinds: []kind{set("team", each("team#", "red", "blue", "green", "black")...)}},
	{name: "stores", about: "stock of a few warehouses and many products", kinds: []kind{set("WH", each("WAREHOUSE#", "NORTH", "SOUTH", "EAST", "WEST")...), ids("SKU", prefixed("SKU#", both(drawn(uppers, 3), "-", drawn(digits, 5))))}},
	{name: "api-keys", about: "calls by key of an API, with a version", kinds: []kind{ids("key", prefixed("v1/key/", secret))}},
	{name: "wallets", about: "wallets of a chain, with 0x before them", kinds: []kind{ids("wallet", prefixed("0x", drawn("0123456789abcdef", 40)))}},
	{name: "books", about: "loans by ISBN", kinds: []kind{ids("ISBN", prefixed("ISBN-", both(drawn(digits, 3), "-", drawn(digits, 10))))}},
	{name: "usernames", about: "the name of the user is the key", kinds: []kind{ids("name", both(person, "", both(coin, "", oneOf("", "_", "99"))))}},
	{name: "channels", about: "messages by workspace and channel", kinds: []kind{ids("channel", both(prefixed("WS#", hex8), "#CH#", coin))}},
	{name: "environment", about: "the environment is the first part of every key", kinds: []kind{ids("user", prefixed("prod#user#", uuid)), ids("order", prefixed("prod#order#", ulid)), fixed("prod#settings")}},
	{name: "error-log", about: "one list of errors in lower case", kinds: []kind{fixed("log#errors"), ids("req", prefixed("request#", uuid))}},
	{name: "hour-suffix", about: "impressions by campaign and hour", kinds: []kind{ids("campaign", func() maker { return both(prefixed("CAMPAIGN#", number), "#", oneOf(hours...)) }())}},
}
