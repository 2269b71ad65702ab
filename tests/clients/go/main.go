// Unmodified Go clients against the server of $KUBECONFIG: client-go in JSON and in protobuf, its informers, leader
// election and discovery, and a controller-runtime manager with a definition of its own.
//
// Prints a line for each thing that held; the first one that did not ends it with 1.
package main

import (
	"context"
	"fmt"
	"os"
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
	patience  = 30 * time.Second
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
	config, err := loadConfig()
	if err != nil {
		fail("kubeconfig", err)
	}
	steps := []step{
		{"discovery", discover},
		{"objects in JSON", inType("application/json", writeObjects)},
		{"objects in protobuf", inType(protobuf, writeObjects)},
		{"an informer", inform},
		{"server-side apply", apply},
		{"leader election", elect},
		{"a controller-runtime manager", manage},
	}
	for _, step := range steps {
		if err := step.run(ctx, config); err != nil {
			fail(step.name, err)
		}
		fmt.Println(step.name)
	}
}

func fail(name string, err error) {
	fmt.Fprintf(os.Stderr, "Cannot go on: %s: %v\n", name, err)
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

// inType runs a step with a client that writes its bodies in this content type.
func inType(
	contentType string, run func(ctx context.Context, config *rest.Config) error,
) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		typed := rest.CopyConfig(config)
		typed.ContentType = contentType
		return run(ctx, typed)
	}
}

// until asks again until it holds.
func until(ctx context.Context, what string, holds func() (bool, error)) error {
	deadline := time.Now().Add(patience)
	for {
		isTrue, err := holds()
		if err != nil || isTrue {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s", what, patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
