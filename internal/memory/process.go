package memory

// processKeys names the settings every kind of process has.
type processKeys struct {
	process, flink, metaspace string
	overhead                  fractionKeys
	// fine are the settings that, all together, need no total.
	fine []string
}

// total is what surrounds the parts that differ between kinds of processes.
type total struct {
	process, flink, metaspace, overhead Size
}

// derive applies the first rule that fits: the fine-grained sizes are all
// set; the flink size is set; the process size is set.
//
// fromParts computes the parts from the fine-grained sizes and returns their
// sum; fromFlink computes the parts of a given sum.
func (s *settings) derive(k processKeys, fromParts func() Size, fromFlink func(flink Size)) total {
	allFine := true
	for _, key := range k.fine {
		allFine = allFine && s.has(key)
	}
	switch {
	case allFine:
		return s.around(k, fromParts())
	case s.has(k.flink):
		flink := s.sized("flink", k.flink, 0)
		fromFlink(flink)
		return s.around(k, flink)
	case s.has(k.process):
		t := s.within(k)
		if s.err == nil {
			fromFlink(t.flink)
		}
		return t
	}
	s.fail("Either required fine-grained memory (%s), or Total Flink Memory size (%s), or Total Process Memory size (%s) need to be configured explicitly.",
		joinAnd(k.fine), unset(k.flink), unset(k.process))
	return total{}
}

func joinAnd(keys []string) string {
	out := ""
	for i, key := range keys {
		if i > 0 {
			out += " and "
		}
		out += key
	}
	return out
}

// unset names an option without a default the way Flink does in its messages.
func unset(key string) string {
	return "Key: '" + key + "' , default: null (fallback keys: [])"
}

// within takes metaspace and overhead off the process size.
func (s *settings) within(k processKeys) total {
	t := total{process: s.sized("process", k.process, 0)}
	t.metaspace = s.sized("metaspace", k.metaspace, DefaultMetaspaceSize)
	t.overhead = s.part("jvm overhead memory", "overhead", t.process, "process", s.fraction(k.overhead))
	around := s.sum(t.metaspace, t.overhead)
	if around > t.process {
		s.fail("Sum of configured JVM Metaspace (%s) and JVM Overhead (%s) exceed configured Total Process Memory (%s).",
			t.metaspace.Human(), t.overhead.Human(), t.process.Human())
	}
	t.flink = t.process - around
	s.from["flink"] = "process without metaspace and overhead"
	return t
}

// around adds metaspace and overhead to the flink size. When the process size
// is set too, the overhead is what it leaves.
func (s *settings) around(k processKeys, flink Size) total {
	t := total{flink: flink, metaspace: s.sized("metaspace", k.metaspace, DefaultMetaspaceSize)}
	inner := s.sum(flink, t.metaspace)
	if !s.has(k.process) {
		t.overhead = s.inversePart("jvm overhead memory", "overhead", inner, "process", s.fraction(k.overhead))
		t.process = s.sum(inner, t.overhead)
		s.from["process"] = "the sum of flink, metaspace and overhead"
		return t
	}
	t.process = s.sized("process", k.process, 0)
	if t.process < inner {
		s.fail("The configured Total Process Memory size (%s) is less than the sum of the derived Total Flink Memory size (%s) and the configured or default JVM Metaspace size  (%s).",
			t.process.Human(), t.flink.Human(), t.metaspace.Human())
	}
	t.overhead = t.process - inner
	s.from["overhead"] = "what flink and metaspace leave of process"
	bounds := s.fraction(k.overhead)
	if t.overhead < bounds.min || t.overhead > bounds.max {
		s.fail("Derived JVM Overhead size (%s) is not in configured JVM Overhead range [%s, %s].",
			t.overhead.Human(), bounds.min.Human(), bounds.max.Human())
	}
	return t
}
