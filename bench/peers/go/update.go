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
	micros := make([]int64, *count)
	group, ctx := errgroup.WithContext(ctx)
	ticker := time.NewTicker(time.Second / time.Duration(*rate))
	defer ticker.Stop()
	for i := range *count {
		<-ticker.C
		group.Go(func() error {
			sentAt := time.Now()
			err := stampFoo(ctx, httpClient, config.Host, i%*objects, sentAt)
			micros[i] = time.Since(sentAt).Microseconds()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report(map[string]any{"kind": "updated", "micros": micros})
}

func stampFoo(ctx context.Context, client *http.Client, host string, number int, sentAt time.Time) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, stampAnnotation, sentAt.UnixNano())
	url := host + foosPath + "/" + fooName(number)
	return send(ctx, client, http.MethodPatch, url, "application/merge-patch+json", patch)
}
