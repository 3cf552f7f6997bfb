package pebble

import "github.com/cockroachdb/pebble/v2/vfs"

// unsynced is a file system that never waits for the disk: after a crash nobody reads
// these files.
type unsynced struct{ vfs.FS }

func (u unsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return lazy(u.FS.Create(name, category))
}

func (u unsynced) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return lazy(u.FS.OpenReadWrite(name, category, o...))
}

func (u unsynced) OpenDir(name string) (vfs.File, error) { return lazy(u.FS.OpenDir(name)) }

func (u unsynced) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return lazy(u.FS.ReuseForWrite(old, name, category))
}

func (u unsynced) Unwrap() vfs.FS { return u.FS }

// lazyFile is a file that is not synchronised with the disk.
type lazyFile struct{ vfs.File }

func lazy(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return lazyFile{f}, nil
}

func (lazyFile) Sync() error                { return nil }
func (lazyFile) SyncData() error            { return nil }
func (lazyFile) SyncTo(int64) (bool, error) { return false, nil }
