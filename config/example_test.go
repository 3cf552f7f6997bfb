package config_test

import (
	"fmt"

	"github.com/weirstream/weir/config"
)

func ExampleNew() {
	_, err := config.New(map[string]string{
		"rest.prot":          "9081",
		"heartbeat.interval": "10 parsecs",
	})
	fmt.Println(err)
	// Output:
	// invalid configuration, 2 problems:
	//   heartbeat.interval: "10 parsecs" is no valid duration; allowed: a whole number with a unit ns, us, ms, s, min, h or d (no unit = ms), such as 10 s or 500ms; or 1m30s; or PT1M30S
	//   rest.prot: unknown option; did you mean rest.port?
}

func ExampleOption() {
	cfg, err := config.New(map[string]string{"heartbeat.interval": "2 s"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(config.HeartbeatInterval.In(cfg), config.HeartbeatTimeout.In(cfg))
	_, set := config.PipelineName.Lookup(cfg)
	fmt.Println(set)
	// Output:
	// 2s 50s
	// false
}

func ExampleConfig() {
	cfg, _ := config.New(map[string]string{"rest.port": "9081", "env.java.opts.all": "-Xmx1g"})
	more, _ := cfg.With("weir.user.colour", "red")
	for key, value := range more.Entries() {
		fmt.Println(key, "=", value)
	}
	for _, i := range more.Ignored() {
		fmt.Println(i.Key, "has no effect:", i.Why)
	}
	// Output:
	// env.java.opts.all = -Xmx1g
	// rest.port = 9081
	// weir.user.colour = red
	// env.java.opts.all has no effect: there is no Java virtual machine to give options to; GOMEMLIMIT and GOGC are set from the memory model
}

func ExampleDescribe() {
	info, _ := config.Describe("heartbeat.timeout")
	fmt.Println(info.Type, info.Default, info.Effect)
	fmt.Println(info.Doc)
	// Output:
	// duration 50 s after a restart of the process
	// How long a process may be silent before it counts as lost.
}
