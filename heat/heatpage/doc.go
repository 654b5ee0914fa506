// Package heatpage shows heat as a web page: time across, keys, shards or partitions down, and the colour of a cell says how much
// of a partition it took. Beside it are the partitions with their ceilings, the hottest keys, findings with their remedies, and
// how keys were spread over shards.
//
//	page, err := heatpage.New(heatpage.Options{Source: heatpage.Of(recorder)})
//	…
//	go page.Run(ctx)                                  // takes a round every second, until ctx ends
//	mux.Handle("/heat/", http.StripPrefix("/heat", page))
//
// The page is one document without any external request. It follows the traffic by server-sent events, and it can be saved as a
// file that shows the same. It changes nothing. It answers to loopback alone unless Options.Token is set.
//
// page.go answers requests, history.go keeps what was seen in bounded memory, frame.go is what browsers are sent.
package heatpage
