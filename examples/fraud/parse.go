package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

type payment struct {
	Account string
	At      time.Time
	Cents   int64
}

type rule struct {
	Name   string
	Cents  int64
	Within time.Duration
}

func parsePayment(f []string) (p payment, err error) {
	p.Account = f[0]
	if p.At, err = time.Parse(time.RFC3339, f[1]); err == nil {
		p.Cents, err = strconv.ParseInt(f[2], 10, 64)
	}
	return p, err
}

func parseRule(f []string) (r rule, err error) {
	r.Name = f[0]
	if r.Cents, err = strconv.ParseInt(f[1], 10, 64); err != nil {
		return r, err
	}
	minutes, err := strconv.Atoi(f[2])
	if r.Within = time.Duration(minutes) * time.Minute; err == nil && (r.Within <= 0 || r.Within > lookBack) {
		err = fmt.Errorf("got %d minutes, want 1 to %.0f", minutes, lookBack.Minutes())
	}
	return r, err
}

// parsed turns lines of three fields into records.
func parsed[T any](lines stream.DataStream[string], parse func(fields []string) (T, error)) stream.DataStream[T] {
	return lines.Process(func() stream.ProcessFunction[string, T] { return parser[T]{parse} })
}

type parser[T any] struct {
	parse func(fields []string) (T, error)
}

// Process fails on a line that cannot be parsed.
func (p parser[T]) Process(line string, _ *stream.ProcessContext, emit func(T)) error {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return fmt.Errorf("%q has %d fields, want 3", line, len(fields))
	}
	v, err := p.parse(fields)
	if err != nil {
		return fmt.Errorf("line %q: %w", line, err)
	}
	emit(v)
	return nil
}
