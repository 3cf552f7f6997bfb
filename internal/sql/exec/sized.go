package exec

// Size is how much there is to read.
type Size struct {
	Bytes int64
	// Rows is below 0 where it is not known without reading.
	Rows int64
}

// Sized is a Connector that can tell how much there is to read of a table, without
// reading it. It is asked while a statement is planned.
type Sized interface {
	// Size is that of a table with these options; false: it cannot tell.
	Size(options map[string]string) (Size, bool)
}
