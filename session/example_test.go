package session_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// Cart is what an application keeps in its sessions.
type Cart struct {
	Items []string
}

// carts returns a store on an engine inside the process.
func carts(ctx context.Context, options session.Options) (*session.Store[Cart], *local.DB) {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	options.Table = "sessions"
	if err := session.Setup(ctx, db.Client(), options); err != nil {
		log.Fatal(err)
	}
	sessions, err := session.Open[Cart](db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}
	return sessions, db
}

// The life of a session: from login to logout.
func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or the client of your own account
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	options := session.Options{Table: "sessions", Idle: 30 * time.Minute, MaxAge: 12 * time.Hour}
	if err := session.Setup(ctx, db.Client(), options); err != nil {
		log.Fatal(err)
	}
	sessions, err := session.Open[Cart](db.Client(), options)
	if err != nil {
		log.Fatal(err)
	}

	login, err := sessions.Create(ctx, "ann", Cart{})
	if err != nil {
		log.Fatal(err)
	}
	cookie := login.ID

	s, err := sessions.Visit(ctx, cookie)
	fmt.Println(s.User, s.Data.Items, err)

	s, err = sessions.Change(ctx, cookie, func(c *Cart) error {
		c.Items = append(c.Items, "tea")
		return nil
	})
	fmt.Println(s.User, s.Data.Items, err)

	n, err := sessions.Count(ctx)
	fmt.Println(n, "living", err)

	err = sessions.Revoke(ctx, cookie)
	fmt.Println("logged out", err)
	_, err = sessions.Visit(ctx, cookie)
	fmt.Println("not found:", errors.Is(err, session.ErrNotFound))
	// Output:
	// ann [] <nil>
	// ann [tea] <nil>
	// 1 living <nil>
	// logged out <nil>
	// not found: true
}

// The page on which a user sees his sessions and ends one of them. It never has the ids: handles are enough.
func ExampleStore_ByUser() {
	ctx := context.Background()
	sessions, db := carts(ctx, session.Options{})
	defer db.Close()
	for range 3 {
		sessions.Create(ctx, "ann", Cart{})
	}
	for s, err := range sessions.ByUser(ctx, "ann") {
		if err != nil {
			log.Fatal(err)
		}
		sessions.RevokeHandle(ctx, s.Handle)
		break
	}
	left := 0
	for range sessions.ByUser(ctx, "ann") {
		left++
	}
	fmt.Println(left, "left")
	// Output: 2 left
}

// After a change of password: everybody out, and a new session for who changed it.
func ExampleStore_RevokeUser() {
	ctx := context.Background()
	sessions, db := carts(ctx, session.Options{StrictRevocation: true})
	defer db.Close()
	old, _ := sessions.Create(ctx, "ann", Cart{Items: []string{"tea"}})
	sessions.Create(ctx, "ann", Cart{})

	n, err := sessions.RevokeUser(ctx, "ann")
	fmt.Println(n, err)
	s, err := sessions.Create(ctx, "ann", old.Data)
	fmt.Println(s.ID != old.ID, s.Data.Items, err)
	// Output:
	// 2 <nil>
	// true [tea] <nil>
}

// Two requests of one session. The second finds out that the first was faster, and sees what it did.
func ExampleStore_Update() {
	ctx := context.Background()
	sessions, db := carts(ctx, session.Options{})
	defer db.Close()
	login, _ := sessions.Create(ctx, "ann", Cart{})
	one, _ := sessions.Get(ctx, login.ID)
	other, _ := sessions.Get(ctx, login.ID)

	one.Data.Items = []string{"tea"}
	_, err := sessions.Update(ctx, one)
	fmt.Println(err)
	other.Data.Items = []string{"milk"}
	current, err := sessions.Update(ctx, other)
	fmt.Println(errors.Is(err, session.ErrConflict), current.Data.Items)
	// Output:
	// <nil>
	// true [tea]
}

// What an operation costs.
func ExampleStore_Count() {
	ctx := context.Background()
	sessions, db := carts(ctx, session.Options{})
	defer db.Close()
	for range 100 {
		sessions.Create(ctx, "", Cart{})
	}
	var meter heatsink.Meter
	n, err := sessions.Count(heatsink.WithMeter(ctx, &meter))
	fmt.Println(n, "sessions,", meter.Cost().Requests, "requests,", meter.Cost().ReadUnits, "read units", err)
	// Output: 100 sessions, 25 requests, 12.5 read units <nil>
}
