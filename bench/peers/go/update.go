// update: the load of the latency case. Open loop: an update is sent when its time has come, whether or not the ones
// before it were answered. Each carries the moment it was sent, and each answer's delay is reported too.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

// timedUpdate is an update, by the microsecond since 1970 at which it was sent, and the microseconds until something
// happened.
type timedUpdate struct {
	SentAt int64 `json:"sentAt"`
	Micros int64 `json:"micros"`
}

func updateCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("update", flag.ExitOnError)
	objects := flags.Int("objects", 100, "Foos to be updated in turn")
	rate := flags.Int("rate", 50, "updates a second")
	count := flags.Int("count", 1000, "updates in all")
	_ = flags.Parse(args)
	config, err := restConfig()
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	updates := make([]timedUpdate, *count)
	group, ctx := errgroup.WithContext(ctx)
	ticker := time.NewTicker(time.Second / time.Duration(*rate))
	defer ticker.Stop()
	for i := range *count {
		<-ticker.C
		group.Go(func() error {
			sentAt := time.Now()
			err := stampFoo(ctx, httpClient, config.Host, i%*objects, sentAt)
			updates[i] = timedUpdate{SentAt: sentAt.UnixNano() / 1000, Micros: time.Since(sentAt).Microseconds()}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report(map[string]any{"kind": "updated", "updates": updates})
}

func stampFoo(ctx context.Context, client *http.Client, host string, number int, sentAt time.Time) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, stampAnnotation, sentAt.UnixNano())
	url := host + foosPath + "/" + fooName(number)
	return send(ctx, client, http.MethodPatch, url, "application/merge-patch+json", patch)
}
