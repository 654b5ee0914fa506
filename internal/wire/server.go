package wire

import (
	"net/http"
	"time"
)

// NewServer returns a server for h that does not wait for slow clients forever.
// The caller listens, and shuts it down.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute, // 17 MB at 300 KB/s
		WriteTimeout:      time.Minute,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
