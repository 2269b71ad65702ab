// Unmodified Go clients on the server of $KUBECONFIG: client-go in JSON and in protobuf, its informers, leader election and
// discovery, and a controller-runtime manager with a custom resource.
//
// With the argument "envtest", on the servers that envtest starts from $KUBEBUILDER_ASSETS.
//
// The program prints a line for each successful step, and exits with 1 at the first failed step.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	namespace = "go-clients"
	protobuf  = "application/vnd.kubernetes.protobuf"
	timeout   = 30 * time.Second
)

type step struct {
	name string
	run  func(ctx context.Context, config *rest.Config) error
}

func main() {
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if len(os.Args) > 1 && os.Args[1] == "envtest" {
		if err := withEnvironment(ctx, func(config *rest.Config) { play(ctx, config) }); err != nil {
			fail("envtest", err)
		}
		return
	}
	config, err := loadConfig()
	if err != nil {
		fail("kubeconfig", err)
	}
	play(ctx, config)
}

func play(ctx context.Context, config *rest.Config) {
	steps := []step{
		{"discovery", discover},
		{"objects in JSON", inContentType("application/json", writeObjects)},
		{"objects in protobuf", answeredIn(protobuf, inContentType(protobuf, writeObjects))},
		{"a definition in protobuf", answeredIn(protobuf, inContentType(protobuf, writeDefinition))},
		{"an informer in JSON", answeredIn("application/json", inContentType("application/json", inform))},
		{"an informer in protobuf", answeredIn(protobuf+";stream=watch", inContentType(protobuf, inform))},
		{"80 watches on one connection", inContentType("application/json", watchOnOneConnection)},
		{"server-side apply", inContentType(protobuf, apply)},
		{"leader election", inContentType(protobuf, elect)},
		{"a controller-runtime manager", answeredIn(protobuf+";stream=watch", inContentType(protobuf, manage))},
	}
	for _, step := range steps {
		if err := step.run(ctx, config); err != nil {
			fail(step.name, err)
		}
		fmt.Println(step.name)
	}
}

func fail(name string, err error) {
	fmt.Fprintf(os.Stderr, "Cannot finish the step %s: %v\n", name, err)
	os.Exit(1)
}

func loadConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// inContentType runs a step with a client that writes bodies in this content type.
func inContentType(
	contentType string, run func(ctx context.Context, config *rest.Config) error,
) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		typed := rest.CopyConfig(config)
		typed.ContentType = contentType
		return run(ctx, typed)
	}
}

// contentTypes records the content types of the responses.
type contentTypes struct {
	lock  sync.Mutex
	types map[string]bool
}

func (seen *contentTypes) add(contentType string) {
	seen.lock.Lock()
	defer seen.lock.Unlock()
	seen.types[contentType] = true
}

func (seen *contentTypes) has(contentType string) bool {
	seen.lock.Lock()
	defer seen.lock.Unlock()
	return seen.types[contentType]
}

type roundTripper func(request *http.Request) (*http.Response, error)

func (send roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	return send(request)
}

// answeredIn runs a step, which fails if the server never answers in this content type: clients accept several.
func answeredIn(
	contentType string, run func(ctx context.Context, config *rest.Config) error,
) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		watched := rest.CopyConfig(config)
		seen := &contentTypes{types: map[string]bool{}}
		watched.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := next.RoundTrip(request)
				if err == nil {
					seen.add(response.Header.Get("Content-Type"))
				}
				return response, err
			})
		})
		if err := run(ctx, watched); err != nil {
			return err
		}
		if !seen.has(contentType) {
			return fmt.Errorf("no response in %s, only in %v", contentType, seen.types)
		}
		return nil
	}
}

// until repeats a check until it is true.
func until(ctx context.Context, condition string, check func() (bool, error)) error {
	deadline := time.Now().Add(timeout)
	for {
		isTrue, err := check()
		if err != nil || isTrue {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s", condition, timeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
