package config

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

// userPrefix begins the keys of the user's own programs.
const userPrefix = "weir.user."

//go:embed known_keys.txt
var knownKeysText string

// knownNames is the parsed list of Flink's option names.
type knownNames struct {
	exact    map[string]bool
	families []string          // prefixes, each ending in a dot
	current  map[string]string // old name → present name
}

// known parses the list on first use: a program that has no unusual key never
// pays for it.
var known = sync.OnceValue(func() knownNames {
	k := knownNames{exact: map[string]bool{}, current: map[string]string{}}
	for line := range strings.Lines(knownKeysText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, current, isOld := strings.Cut(line, " ")
		if isOld {
			k.current[name], k.exact[current] = current, true
			continue
		}
		if family, ok := strings.CutSuffix(name, "*"); ok {
			k.families = append(k.families, family)
			name = strings.TrimSuffix(family, ".")
		}
		k.exact[name] = true
	}
	return k
})

// openPrefixes are families of keys that Flink hands on to something else
// without knowing their names, besides those marked in the list.
var openPrefixes = []string{
	"$internal.", "containerized.master.env.", "containerized.taskmanager.env.",
	"fs.azure.", "fs.gs.", "fs.oss.", "fs.s3a.", "gs.", "presto.s3.", "s3.", "s3a.",
}

// suggestions lists the keys an unknown key is compared with: the declared
// ones first, so that among equals one that has an effect is proposed.
var suggestions = sync.OnceValue(func() []string {
	declaredKeys := slices.Sorted(maps.Keys(registry))
	flinks := slices.Sorted(maps.Keys(known().exact))
	return slices.Concat(declaredKeys, flinks, slices.Sorted(maps.Keys(known().current)))
})

// whyWithoutEffect says why a key that no option declares does nothing, and
// whether it is known.
func whyWithoutEffect(key string) (why string, isKnown bool) {
	if strings.HasPrefix(key, userPrefix) && len(key) > len(userPrefix) {
		return "", true
	}
	k := known()
	if current, ok := k.current[key]; ok {
		why, _ := whyWithoutEffect(current)
		return "old name of " + current + ": " + why, true
	}
	within := func(prefix string) bool { return len(key) > len(prefix) && strings.HasPrefix(key, prefix) }
	if k.exact[key] || slices.ContainsFunc(k.families, within) || slices.ContainsFunc(openPrefixes, within) {
		return reason(key), true
	}
	return "", false
}

// reasons says for a family of keys why it does nothing here.
var reasons = []struct{ prefix, why string }{
	{"env.java.", "there is no Java virtual machine"},
	{"classloader.", "there are no Java class loaders"},
	{"jobmanager.memory.enable-jvm", "there is no Java virtual machine"},
	{"taskmanager.jvm-exit-on-oom", "there is no Java virtual machine"},
	{"taskmanager.network.netty.", "the network stack is not Netty"},
	{"pekko.", "the processes do not speak through Pekko"},
	{"akka.", "the processes do not speak through Akka"},
	{"python.", "there are no Python functions"},
	{"yarn.", "there is no YARN driver"},
	{"flink.yarn.", "there is no YARN driver"},
	{"flink.hadoop.", "there is no Hadoop"},
	{"kubernetes.", "there is no Kubernetes driver in this version"},
	{"high-availability.", "there is no high availability in this version"},
	{"state.backend.", "there are no state backends to choose from in this version"},
	{"execution.checkpointing.", "there are no checkpoints in this version"},
	{"execution.state-recovery.", "there are no savepoints in this version"},
	{"table.", "there is no SQL in this version"},
	{"sql-client.", "there is no SQL in this version"},
	{"sql-gateway.", "there is no SQL in this version"},
	{"metrics.", "there are no metric reporters in this version"},
	{"security.", "connections are not encrypted in this version"},
}

func reason(key string) string {
	for _, r := range reasons {
		if strings.HasPrefix(key, r.prefix) {
			return r.why
		}
	}
	return "Flink has this option; nothing here reads it in this version"
}
