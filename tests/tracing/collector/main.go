// The receiver of the OpenTelemetry collector for tests. Its argument is the address on which it takes OTLP over HTTP. It prints
// a line when it listens, and then each request that it accepts as one line of OTLP's JSON.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 2 {
		return errors.New("Cannot receive traces: the address is missing, such as 127.0.0.1:4318")
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	http := config.Protocols.HTTP.GetOrInsertDefault()
	http.ServerConfig.NetAddr.Endpoint = os.Args[1]
	sink, err := consumer.NewTraces(printTraces)
	if err != nil {
		return err
	}
	settings := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
		BuildInfo:         component.NewDefaultBuildInfo(),
	}
	traces, err := factory.CreateTraces(context.Background(), settings, config, sink)
	if err != nil {
		return err
	}
	if err := traces.Start(context.Background(), componenttest.NewNopHost()); err != nil {
		return err
	}
	fmt.Println("listening")
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	<-signals
	return traces.Shutdown(context.Background())
}

func printTraces(_ context.Context, traces ptrace.Traces) error {
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(text))
	return err
}
