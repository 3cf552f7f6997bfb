package config

import "testing"

func BenchmarkNew(b *testing.B) {
	kv := map[string]string{"rest.port": "1", "taskmanager.memory.process.size": "1728m", "heartbeat.interval": "1 s"}
	for b.Loop() {
		if _, err := New(kv); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIn(b *testing.B) {
	c, err := New(map[string]string{"rest.port": "1"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		RestPort.In(c)
	}
}
