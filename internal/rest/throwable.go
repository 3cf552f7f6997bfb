package rest

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// throwableOf makes an error that clients of Flink, also those in Java, can
// read and throw.
func throwableOf(class, message, stack string) *throwable {
	full := stack
	if !strings.HasPrefix(full, class) {
		full = class + ": " + full
	}
	return &throwable{Class: class, Stack: full, Serialized: serializeThrowable(class, class+": "+message, full)}
}

// serializeThrowable writes an org.apache.flink.util.SerializedThrowable as
// Java's object serialization does: without a cause, without the original
// exception, which no Java class stands for, and with the stack as text.
func serializeThrowable(class, message, stack string) []byte {
	var w javaWriter
	w.raw("\xac\xed\x00\x05" + "s")
	w.class("org.apache.flink.util.SerializedThrowable", 0x65169df51fa713f3, 2, 3)
	w.field('L', "fullStringifiedStackTrace", "Ljava/lang/String;") // the string has handle 1
	w.raw("L")
	w.utf("originalErrorClassName")
	w.raw("q\x00\x7e\x00\x01")
	w.field('[', "serializedException", "[B")
	w.raw("x")
	w.class("java.lang.Exception", 0xd0fd1f3e1a3b1cc4, 2, 0)
	w.raw("x")
	w.class("java.lang.Throwable", 0xd5c635273977b8cb, 3, 4)
	w.field('L', "cause", "Ljava/lang/Throwable;")
	w.raw("L")
	w.utf("detailMessage")
	w.raw("q\x00\x7e\x00\x01")
	w.field('[', "stackTrace", "[Ljava/lang/StackTraceElement;")
	w.field('L', "suppressedExceptions", "Ljava/util/List;")
	w.raw("x" + "p") // no class above Throwable that can be serialized

	w.raw("p") // cause
	w.text(message)
	w.raw("u")
	w.class("[Ljava.lang.StackTraceElement;", 0x02462a3c3cfd2239, 2, 0)
	w.raw("x" + "p" + "\x00\x00\x00\x00") // an array of none
	w.raw("p" + "x")                      // suppressedExceptions, and the end of Throwable's part
	w.text(stack)
	w.text(class)
	w.raw("p") // serializedException
	return w.out
}

// A javaWriter writes the elements of Java's serialization stream.
type javaWriter struct{ out []byte }

func (w *javaWriter) raw(s string) { w.out = append(w.out, s...) }

// class opens the description of a class; its fields follow.
func (w *javaWriter) class(name string, version uint64, flags byte, fields uint16) {
	w.raw("r")
	w.utf(name)
	w.out = binary.BigEndian.AppendUint64(w.out, version)
	w.out = append(w.out, flags)
	w.out = binary.BigEndian.AppendUint16(w.out, fields)
}

// field describes a field whose type's name is written here for the first time.
func (w *javaWriter) field(kind byte, name, typ string) {
	w.out = append(w.out, kind)
	w.utf(name)
	w.text(typ)
}

// utf writes a name, which is shorter than 64 KiB.
func (w *javaWriter) utf(s string) {
	encoded := modifiedUTF8(s)
	w.out = binary.BigEndian.AppendUint16(w.out, uint16(len(encoded)))
	w.out = append(w.out, encoded...)
}

// text writes a string of any length.
func (w *javaWriter) text(s string) {
	encoded := modifiedUTF8(s)
	if len(encoded) <= math.MaxUint16 {
		w.raw("t")
		w.out = binary.BigEndian.AppendUint16(w.out, uint16(len(encoded)))
	} else {
		w.raw("|")
		w.out = binary.BigEndian.AppendUint64(w.out, uint64(len(encoded)))
	}
	w.out = append(w.out, encoded...)
}

// modifiedUTF8 is Java's: zero takes two bytes, and a character beyond the
// basic plane is two surrogates of three bytes.
func modifiedUTF8(s string) []byte {
	out := make([]byte, 0, len(s))
	three := func(r rune) {
		out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	for _, r := range s {
		switch {
		case r == 0:
			out = append(out, 0xc0, 0x80)
		case r > math.MaxUint16:
			r -= 0x10000
			three(0xd800 + r>>10)
			three(0xdc00 + r&0x3ff)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
