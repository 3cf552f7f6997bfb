package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Hash names a blob: the SHA-256 of its bytes.
type Hash [sha256.Size]byte

// String gives 64 lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads 64 hexadecimal digits in either case.
func ParseHash(text string) (Hash, error) {
	var h Hash
	if len(text) != 2*len(h) {
		return Hash{}, fmt.Errorf("blob name: want %d hexadecimal digits, got %d characters", 2*len(h), len(text))
	}
	if _, err := hex.Decode(h[:], []byte(text)); err != nil {
		return Hash{}, fmt.Errorf("blob name %q: want %d hexadecimal digits: %w", strings.ToValidUTF8(text, "?"), 2*len(h), err)
	}
	return h, nil
}
