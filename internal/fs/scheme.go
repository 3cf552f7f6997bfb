package fs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ByScheme is the FileSystem of all schemes that a process knows: each call
// goes to the one of its location's scheme. It never changes after it is made.
type ByScheme map[string]FileSystem

// For finds the file system of a location.
func (s ByScheme) For(at Location) (FileSystem, error) {
	if at == "" {
		return nil, errNoLocation
	}
	if found := s[at.Scheme()]; found != nil {
		return found, nil
	}
	return nil, Failed("reach", at, -1, fmt.Errorf("%w %q, known are: %s", ErrScheme, at.Scheme(),
		strings.Join(slices.Sorted(maps.Keys(s)), ", ")))
}

// Create calls the location's file system.
func (s ByScheme) Create(ctx context.Context, at Location) (Writer, error) {
	f, err := s.For(at)
	if err != nil {
		return nil, err
	}
	return f.Create(ctx, at)
}

// Open calls the location's file system.
func (s ByScheme) Open(ctx context.Context, at Location) (File, error) {
	f, err := s.For(at)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx, at)
}

// Stat calls the location's file system.
func (s ByScheme) Stat(ctx context.Context, at Location) (Entry, error) {
	f, err := s.For(at)
	if err != nil {
		return Entry{}, err
	}
	return f.Stat(ctx, at)
}

// List calls the directory's file system.
func (s ByScheme) List(ctx context.Context, dir Location) ([]Entry, error) {
	f, err := s.For(dir)
	if err != nil {
		return nil, err
	}
	return f.List(ctx, dir)
}

// Delete calls the location's file system.
func (s ByScheme) Delete(ctx context.Context, at Location) error {
	f, err := s.For(at)
	if err != nil {
		return err
	}
	return f.Delete(ctx, at)
}

// DeleteTree calls the directory's file system.
func (s ByScheme) DeleteTree(ctx context.Context, dir Location) error {
	f, err := s.For(dir)
	if err != nil {
		return err
	}
	return f.DeleteTree(ctx, dir)
}
