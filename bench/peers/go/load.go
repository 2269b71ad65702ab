// load: Foos from one number to another, created at once over one HTTP/2 connection, about 940 bytes each as the server
// stores them. The API server's answer is not looked into beyond its code.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

const foosPath = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"

func loadCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	from := flags.Int("from", 0, "number of the first Foo")
	to := flags.Int("to", 0, "number after the last Foo")
	parallel := flags.Int("parallel", 100, "requests at a time")
	_ = flags.Parse(args)
	config, err := restConfig()
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(*parallel)
	for number := *from; number < *to && ctx.Err() == nil; number++ {
		group.Go(func() error {
			return send(ctx, httpClient, http.MethodPost, config.Host+foosPath, "application/json", fooBody(number))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report(map[string]any{"kind": "loaded", "objects": *to - *from})
}

func fooName(number int) string { return fmt.Sprintf("foo-%06d", number) }

func fooBody(number int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Foo","metadata":{"name":%q,"labels":{`+
		`"app.kubernetes.io/name":"web-%d","app.kubernetes.io/part-of":"shop-%d","team":"team-%d"},`+
		`"annotations":{"example.dev/contact":"team-%d@example.dev","example.dev/description":"the web front of the shop"}},`+
		`"spec":{"deploymentName":%q,"replicas":1}}`,
		fooVersion.String(), fooName(number), number%97, number%11, number%7, number%7, fooName(number))
}

func send(ctx context.Context, client *http.Client, method, url, contentType string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode > 299 {
		err = fmt.Errorf("Cannot %s %s: %s %s", method, url, response.Status, answer)
	}
	return err
}
