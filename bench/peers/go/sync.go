// sync: every Foo into a controller-runtime cache, typed or unstructured, managedFields kept (the default) or dropped.
package main

import (
	"context"
	"errors"
	"flag"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func syncCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("sync", flag.ExitOnError)
	isUnstructured := flags.Bool("unstructured", false, "hold untyped objects")
	drops := flags.Bool("drop-managed-fields", false, "transform objects as the cache's documentation advises")
	_ = flags.Parse(args)
	config, err := restConfig()
	if err != nil {
		return err
	}
	options := cache.Options{Scheme: newScheme()}
	if *drops {
		options.DefaultTransform = cache.TransformStripManagedFields()
	}
	foos, err := cache.New(config, options)
	if err != nil {
		return err
	}
	go func() { _ = foos.Start(ctx) }()
	informer, err := foos.GetInformer(ctx, watchedFoo(*isUnstructured))
	if err != nil {
		return err
	}
	if !foos.WaitForCacheSync(ctx) {
		return errors.New("Cannot sync the cache: it was stopped")
	}
	shared, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return errors.New("Cannot count the cache: its informer shows no store")
	}
	if err := report(map[string]any{"kind": "synced", "objects": len(shared.GetStore().ListKeys())}); err != nil {
		return err
	}
	return untilStdinEnds()
}

func watchedFoo(isUnstructured bool) client.Object {
	if !isUnstructured {
		return &Foo{}
	}
	foo := &unstructured.Unstructured{}
	foo.SetGroupVersionKind(fooVersion.WithKind("Foo"))
	return foo
}
