// served: starts a server and asks it until it answers, and says how long that took from exec on: first until somebody
// listens, then until a GET of /readyz over TLS is answered with 200, which a kube-apiserver does only some time after it
// listens. The server is then told to end.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	pollEvery   = time.Millisecond
	mostWaiting = 30 * time.Second
)

func servedCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("served", flag.ExitOnError)
	address := flags.String("address", "", "host:port that the server will listen on")
	_ = flags.Parse(args)
	if flags.NArg() == 0 {
		return fmt.Errorf("Cannot start a server: there is no command")
	}
	ctx, cancel := context.WithTimeout(ctx, mostWaiting)
	defer cancel()
	server := exec.CommandContext(ctx, flags.Arg(0), flags.Args()[1:]...)
	server.Stderr = os.Stderr
	begunAt := time.Now()
	if err := server.Start(); err != nil {
		return err
	}
	answerErr := untilAnswered(ctx, *address)
	took := time.Since(begunAt)
	cpu, cpuErr := cpuOf(server.Process.Pid)
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	// How it ends is not what is measured.
	_ = server.Wait()
	if err := errors.Join(answerErr, cpuErr); err != nil {
		return err
	}
	return report(map[string]any{"kind": "served", "ms": float64(took.Microseconds()) / 1000, "cpuMs": cpu.Milliseconds()})
}

// cpuOf is what a process has used by now, user and system time, as /proc tells it in steps of 10 ms.
func cpuOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in brackets may have spaces in it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

func untilAnswered(ctx context.Context, address string) error {
	for {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	// Its certificate is new, and whom it was made for is not the question here.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for {
		err := send(ctx, client, http.MethodGet, "https://"+address+"/readyz", "", nil)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pollEvery):
		}
	}
}
