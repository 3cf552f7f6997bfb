package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/weirstream/weir/internal/sql/expr"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// encodings are the functions that write texts and numbers in other ways, and hashes.
func encodings() []*expr.Function {
	fs := []*expr.Function{
		function("ASCII", "string", "ASCII(s)", "The first byte of the text, as a signed number.", giving("t", as(integer)), computing(func(r row) (int32, bool) { return sqltext.ASCII(r.bytes(0)), true })),
		function("CHR", "string", "CHR(code)", "The character of a code, modulo 256.", giving("I", always(text)), appending(func(dst []byte, r row) ([]byte, bool) { return sqltext.Chr(dst, r.int(0)), true })),
		function("TO_BASE64", "string", "TO_BASE64(s)", "The text or bytes in base 64.", giving("x", as(text)), appending(func(dst []byte, r row) ([]byte, bool) {
			return base64.StdEncoding.AppendEncode(dst, r.bytes(0)), true
		})),
		function("FROM_BASE64", "string", "FROM_BASE64(s)", "The text that is written in base 64.", giving("x", perhaps(text)), appending(fromBase64)),
		function("ENCODE", "string", "ENCODE(s, charset)", "The bytes of a text in a character set.", giving("tt", as(octets)), failing(func(dst []byte, r row) ([]byte, bool, error) {
			dst, err := sqltext.Encode(dst, r.bytes(0), r.bytes(1))
			return dst, true, err
		})),
		function("DECODE", "string", "DECODE(bytes, charset)", "The text that bytes are in a character set.", giving("bt", as(text)), failing(func(dst []byte, r row) ([]byte, bool, error) {
			dst, err := sqltext.Decode(dst, r.bytes(0), r.bytes(1))
			return dst, true, err
		})),
		function("HEX", "arithmetic", "HEX(x)", "The number, or the text's bytes, in hexadecimal digits.", inferHex, appending(hexadecimal)),
		function("UNHEX", "arithmetic", "UNHEX(s)", "The bytes written in hexadecimal digits.", giving("t!", always(octets)), appending(func(dst []byte, r row) ([]byte, bool) { return sqltext.Unhex(dst, r.bytes(0)) })),
		function("BIN", "arithmetic", "BIN(n)", "The number in binary digits.", giving("I", as(text)), appending(func(dst []byte, r row) ([]byte, bool) { return strconv.AppendUint(dst, uint64(r.int(0)), 2), true })),
		function("SHA2", "hash", "SHA2(s, bits)", "The SHA-2 hash of 224, 256, 384 or 512 bits.", giving("xI", as(types.VarCharOf(128))), failing(sha2)),
	}
	for _, h := range hashes {
		fs = append(fs, function(h.name, "hash", h.name+"(s)", "The "+h.name+" hash in hexadecimal digits.", giving("x", as(types.CharOf(2*h.size))), appending(func(dst []byte, r row) ([]byte, bool) {
			return h.sum(dst, r.bytes(0)), true
		})))
	}
	return fs
}

// hashes are the functions that hash, by name.
var hashes = []struct {
	name string
	size int
	sum  func(dst, b []byte) []byte
}{
	{"MD5", md5.Size, func(dst, b []byte) []byte { h := md5.Sum(b); return hex.AppendEncode(dst, h[:]) }},
	{"SHA1", sha1.Size, func(dst, b []byte) []byte { h := sha1.Sum(b); return hex.AppendEncode(dst, h[:]) }},
	{"SHA224", sha256.Size224, func(dst, b []byte) []byte { h := sha256.Sum224(b); return hex.AppendEncode(dst, h[:]) }},
	{"SHA256", sha256.Size, func(dst, b []byte) []byte { h := sha256.Sum256(b); return hex.AppendEncode(dst, h[:]) }},
	{"SHA384", sha512.Size384, func(dst, b []byte) []byte { h := sha512.Sum384(b); return hex.AppendEncode(dst, h[:]) }},
	{"SHA512", sha512.Size, func(dst, b []byte) []byte { h := sha512.Sum512(b); return hex.AppendEncode(dst, h[:]) }},
}

// sha2 hashes with the algorithm of a number of bits; 1 is SHA-1.
func sha2(dst []byte, r row) ([]byte, bool, error) {
	bits := r.int(1)
	name := "SHA" + strconv.FormatInt(bits, 10)
	for _, h := range hashes {
		if h.name == name {
			return h.sum(dst, r.bytes(0)), true, nil
		}
	}
	return dst, false, fmt.Errorf("SHA2 has no algorithm of %d bits; allowed are 224, 256, 384 and 512", bits)
}

// fromBase64 takes padding that is missing, but nothing else.
func fromBase64(dst []byte, r row) ([]byte, bool) {
	s := r.bytes(0)
	for _, c := range s {
		if c == '\n' || c == '\r' {
			return dst, false
		}
	}
	encoding := base64.StdEncoding
	if len(s)%4 != 0 {
		encoding = base64.RawStdEncoding
	}
	out, err := encoding.AppendDecode(dst, s)
	if err != nil {
		return dst, false
	}
	decoded, err := sqltext.Decode(nil, out[len(dst):], []byte("UTF-8"))
	return append(dst, decoded...), err == nil
}

// inferHex takes a whole number or a text.
func inferHex(s *expr.Site) (types.Type, error) {
	if len(s.Args) == 1 && s.Kind(0).IsText() {
		return giving("t", as(text))(s)
	}
	return giving("I", as(text))(s)
}

func hexadecimal(dst []byte, r row) ([]byte, bool) {
	if r.args[0].Offsets != nil {
		return sqltext.AppendHex(dst, r.bytes(0)), true
	}
	from := len(dst)
	dst = strconv.AppendUint(dst, uint64(r.int(0)), 16)
	for i := from; i < len(dst); i++ {
		if dst[i] >= 'a' {
			dst[i] -= 'a' - 'A'
		}
	}
	return dst, true
}
