// stream: the bytes that a first sync of the Foos consists of, read and thrown away: the time below which no client comes.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

const watchListQuery = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"

func streamCommand(ctx context.Context, _ []string) error {
	config, err := restConfig()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+foosPath+watchListQuery, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("Cannot watch Foos: %s", response.Status)
	}
	objects, err := countUntilBookmark(bufio.NewReaderSize(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if err := report(map[string]any{"kind": "synced", "objects": objects}); err != nil {
		return err
	}
	return untilStdinEnds()
}

// countUntilBookmark counts the lines before the bookmark that says that there were all.
func countUntilBookmark(reader *bufio.Reader) (int, error) {
	for objects := 0; ; objects++ {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return 0, errors.New("Cannot read the stream: it ended before its bookmark")
		}
		if err != nil {
			return 0, err
		}
		if bytes.HasPrefix(line, []byte(`{"type":"BOOKMARK"`)) {
			return objects, nil
		}
	}
}
