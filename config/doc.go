// Package config holds every option of Weir: its key, type, default, what it
// means and when a change takes effect. Each option is declared once, as an
// exported variable, and read with its In method:
//
//	cfg, err := config.Load(dir, []string{"rest.port=9081"})
//	port := config.RestPort.In(cfg)
//
// The keys are Flink's, with Flink's units and defaults; our own begin with
// "weir.". Values come from config.yaml, the environment variable
// WEIR_PROPERTIES and -D settings, a later one winning over an earlier one.
//
// # Which keys are accepted
//
//   - A key declared here takes effect. Its old names do too.
//   - A key Flink has and nothing here reads is accepted, and listed by
//     Config.Ignored with the reason, so that a file written for Flink loads.
//   - The families Flink leaves open (metrics.reporter.NAME.x, s3.x,
//     flink.hadoop.x and the like, see openPrefixes) are accepted likewise.
//   - A key that begins with "weir.user." belongs to the user's program, which
//     reads it with Config.Get.
//   - Everything else is an error that suggests the nearest known key. In
//     particular "table." and "env." are no open families: their keys are all
//     known by name, so a misspelt one is reported.
//
// The package promises that a *Config is complete and checked: no value is
// out of its type or range, and all mistakes of all sources are reported
// together, in one *Error. A Config never changes and may be read from any
// goroutine. The package never logs and starts no goroutine; it touches the
// file system only in Load and WriteDefault.
package config
