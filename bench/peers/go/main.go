// The Go peers of the benchmark, one program with a subcommand per case.
//
// Every subcommand speaks the protocol of bench/protocol.ts: one JSON object a line on stdout, the first one as soon as
// the measured work is done; then the program stays as it is, so that the driver can look at its CPU and memory, and
// ends when its stdin does. load, create, update, served, suite, watches and
// webhook-load are the driver's own tools and end by themselves.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

var commands = map[string]func(ctx context.Context, args []string) error{
	"sync":      syncCommand,
	"idle":      idleCommand,
	"reconcile": reconcileCommand,
	"latency":   latencyCommand,
	"queue":     queueCommand,
	"stream":    streamCommand,
	"load":      loadCommand,
	"create":    createCommand,
	"served":    servedCommand,
	"update":    updateCommand,
	"suite":     suiteCommand,
	"watches":   watchesCommand,

	"webhook":      webhookCommand,
	"webhook-load": webhookLoadCommand,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: peers sync|idle|reconcile|latency|queue|stream|load|create|served|update|suite|watches|webhook|webhook-load [flags]")
		os.Exit(2)
	}
	klog.SetLogger(logr.Discard())
	ctrllog.SetLogger(logr.Discard())
	if err := commands[os.Args[1]](context.Background(), os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// restConfig is what KUBECONFIG says, without the client-side rate limit.
func restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// report writes one line of the protocol.
func report(line map[string]any) error {
	return json.NewEncoder(os.Stdout).Encode(line)
}

// untilAsked holds the program in its present state until the driver wants the next line.
func untilAsked() error {
	_, err := os.Stdin.Read(make([]byte, 1))
	return err
}

// untilStdinEnds holds the program in its present state until the driver closes its stdin.
func untilStdinEnds() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
