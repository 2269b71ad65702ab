// webhook: a defaulting webhook for Foo on controller-runtime's own server, the certificate from a folder. It fills in a
// label and the replicas, as bench/ours/webhook.ts does.
package main

import (
	"context"
	"flag"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	webhookPath = "/mutate-samplecontroller-k8s-io-v1alpha1-foo"
	tierLabel   = "example.dev/tier"
)

type fooDefaulter struct{}

func (fooDefaulter) Default(_ context.Context, foo *Foo) error {
	if foo.Spec.Replicas == 0 {
		foo.Spec.Replicas = 1
	}
	if foo.Labels == nil {
		foo.Labels = map[string]string{}
	}
	if _, isSet := foo.Labels[tierLabel]; !isSet {
		foo.Labels[tierLabel] = "web"
	}
	return nil
}

func webhookCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("webhook", flag.ExitOnError)
	certDir := flags.String("cert-dir", "", "folder with tls.crt and tls.key")
	port := flags.Int("port", 9443, "port on the loopback interface")
	_ = flags.Parse(args)
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certDir})
	server.Register(webhookPath, admission.WithDefaulter(newScheme(), fooDefaulter{}))
	failed := make(chan error, 1)
	go func() { failed <- server.Start(ctx) }()
	for started := server.StartedChecker(); started(nil) != nil; {
		select {
		case err := <-failed:
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := report(map[string]any{"kind": "serving"}); err != nil {
		return err
	}
	return untilStdinEnds()
}
