package codec

// A Schema is the shape of a type as text: the names, kinds and order of its
// fields. Plans with equal schemas understand each other.
type Schema string

// Schema returns the schema of T.
func (p *Plan[T]) Schema() Schema { panic("codec") }
