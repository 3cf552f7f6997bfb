package ident

import (
	"strings"
	"testing"
)

const aGraph, aVertex = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"

func TestAnAttemptIsReadAsItIsWritten(t *testing.T) {
	for _, text := range []string{aGraph + "_" + aVertex + "_0_0", aGraph + "_" + aVertex + "_99999_12"} {
		a, err := ParseAttempt(text)
		if err != nil || a.String() != text {
			t.Errorf("%s is read as %s, error %v", text, a, err)
		}
		upper, err := ParseAttempt(strings.ToUpper(text))
		if err != nil || upper != a {
			t.Errorf("%s in upper case is read as %s, error %v", text, upper, err)
		}
	}
}

func TestStrangeAttemptsAreRefused(t *testing.T) {
	whole := aGraph + "_" + aVertex + "_1_2"
	for _, text := range []string{
		"", "_", "___", aGraph, aGraph + "_" + aVertex, aGraph + "_" + aVertex + "_", aGraph + "_" + aVertex + "_1", aGraph + "_" + aVertex + "_1_",
		whole + "_3", whole + " ", " " + whole, aGraph + "_" + aVertex + "_01_2", aGraph + "_" + aVertex + "_1_+2", aGraph + "_" + aVertex + "_-1_2",
		aGraph + "_" + aVertex + "_1_9999999999999999999", "g" + whole[1:], aGraph + "-" + aVertex + "_1_2", aGraph + "_" + aVertex + "-1_2",
	} {
		if a, err := ParseAttempt(text); err == nil {
			t.Errorf("%q is read as %s", text, a)
		}
	}
}

func FuzzParseAttempt(f *testing.F) {
	f.Add(aGraph + "_" + aVertex + "_1_2")
	f.Add("_____")
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := ParseAttempt(text); err == nil && a.String() != strings.ToLower(text) {
			t.Errorf("%q is read as %s", text, a)
		}
	})
}
