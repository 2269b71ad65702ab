// create: Foos from one number to another, over so many HTTP/1.1 connections that are kept, each with one request at a
// time. It writes requests and reads answers itself, since net/http's client would take more of the processors than the
// server that is measured: 50,000 creates cost it less than 20 µs of CPU each.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
)

// creator is what all connections share.
type creator struct {
	host string
	tls  *tls.Config
	// head is a request up to its length.
	head string
	next atomic.Int64
	to   int64
}

func createCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("create", flag.ExitOnError)
	from := flags.Int("from", 0, "number of the first Foo")
	to := flags.Int("to", 0, "number after the last Foo")
	connections := flags.Int("connections", 32, "connections, each with one request at a time")
	_ = flags.Parse(args)
	c, err := newCreator(*from, *to)
	if err != nil {
		return err
	}
	begunAt, begunCPU := time.Now(), ownCPU()
	micros := make([][]int64, *connections)
	group, ctx := errgroup.WithContext(ctx)
	for index := range *connections {
		group.Go(func() error {
			taken, err := c.createSome(ctx)
			micros[index] = taken
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	all := slices.Sorted(slices.Values(slices.Concat(micros...)))
	return report(map[string]any{
		"kind": "created", "objects": len(all), "ms": float64(time.Since(begunAt).Microseconds()) / 1000,
		"cpuMs": float64((ownCPU() - begunCPU).Microseconds()) / 1000,
		"p50Us": all[len(all)/2], "p99Us": all[len(all)*99/100],
	})
}

func newCreator(from, to int) (*creator, error) {
	if to <= from {
		return nil, fmt.Errorf("Cannot create Foos: there are none from %d to %d", from, to)
	}
	config, err := restConfig()
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	secure, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	secure.NextProtos = []string{"http/1.1"}
	secure.ServerName = target.Hostname()
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench-create\r\nAccept: application/json\r\n"+
		"Content-Type: application/json\r\n", foosPath, target.Host)
	if config.BearerToken != "" {
		head += fmt.Sprintf("Authorization: Bearer %s\r\n", config.BearerToken)
	}
	c := &creator{host: target.Host, tls: secure, head: head, to: int64(to)}
	c.next.Store(int64(from))
	return c, nil
}

// createSome creates Foos over one connection until there are none left, and returns how long each took.
func (c *creator) createSome(ctx context.Context) ([]int64, error) {
	dialer := tls.Dialer{Config: c.tls}
	connection, err := dialer.DialContext(ctx, "tcp", c.host)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	answers := bufio.NewReaderSize(connection, 16<<10)
	var micros []int64
	var request []byte
	for ctx.Err() == nil {
		number := c.next.Add(1) - 1
		if number >= c.to {
			return micros, nil
		}
		body := fooBody(int(number))
		request = fmt.Appendf(request[:0], "%sContent-Length: %d\r\n\r\n%s", c.head, len(body), body)
		sentAt := time.Now()
		if _, err := connection.Write(request); err != nil {
			return nil, err
		}
		if err := readCreated(answers); err != nil {
			return nil, fmt.Errorf("Cannot create %s: %w", fooName(int(number)), err)
		}
		micros = append(micros, time.Since(sentAt).Microseconds())
	}
	return micros, ctx.Err()
}

// readCreated reads one answer to its end, and whether it is the one that was hoped for.
func readCreated(answers *bufio.Reader) error {
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusCreated {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	text, _ := io.ReadAll(response.Body)
	return fmt.Errorf("%s %s", response.Status, text)
}

// ownCPU is the user and system time of this process.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
