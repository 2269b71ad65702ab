// Reads OpenMetrics as Prometheus does when it scrapes: from stdin, and prints how many series there are and each exemplar.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

type foundExemplar struct {
	Series string            `json:"series"`
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

func main() {
	if err := read(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	parser := textparse.NewOpenMetricsParser(text, labels.NewSymbolTable())
	series, exemplars := 0, []foundExemplar{}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		series++
		name, _, _ := parser.Series()
		for found := (exemplar.Exemplar{}); parser.Exemplar(&found); {
			exemplars = append(exemplars, foundExemplar{string(name), found.Labels.Map(), found.Value})
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"series": series, "exemplars": exemplars})
}
