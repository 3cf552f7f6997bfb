package main

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/weirstream/weir/stream"
)

func TestWordsAreCountedAsTheyCome(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() {
		defer l.Close()
		c, err := l.Accept()
		if err == nil {
			_, err = fmt.Fprint(c, "To be or\nnot to be")
			c.Close()
		}
		served <- err
	}()
	env := stream.NewEnv(stream.DefaultParallelism(2))
	counts := count(stream.Socket(env, l.Addr().String())).Collect()
	if err := env.Execute(t.Context(), "test"); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	var got []string
	for _, c := range counts.Values() {
		got = append(got, fmt.Sprint(c.Key, c.Value))
	}
	slices.Sort(got)
	if want := []string{"be1", "be2", "not1", "or1", "to1", "to2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
