package program

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"
)

// headBytes is how much of a file is read to tell what it is.
const headBytes = 512

// machines are the processors Weir may run on, by ELF's name.
var machines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64",
	elf.EM_MIPS: "mips",
}

// inspect refuses what cannot run on this machine as a Go job.
func inspect(name string, r io.ReaderAt, size int64) error {
	if size == 0 {
		return refuse("%s is empty.", name)
	}
	head := make([]byte, min(size, headBytes))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read what was uploaded as %s: %w", name, err)
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return inspectELF(name, r, size)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return inspectZip(name, r, size)
	case bytes.HasPrefix(head, []byte{0xca, 0xfe, 0xba, 0xbe}) && jvmClass(head):
		return jvm(name)
	case machO(head):
		return inspectMachO(name, r)
	case bytes.HasPrefix(head, []byte("MZ")):
		return refuse("%s is a Windows program; this cluster runs %s: build it with GOOS=%s GOARCH=%s.", name, here, runtime.GOOS, runtime.GOARCH)
	case bytes.HasPrefix(head, []byte("#!")):
		return refuse("%s is a script; Weir runs Go job binaries: upload the file that `go build` makes.", name)
	case text(head):
		return refuse("%s is a text file; Weir runs Go job binaries: upload the file that `go build` makes.", name)
	}
	return refuse("%s is not an executable file; Weir runs Go job binaries: upload the file that `go build` makes for %s.", name, here)
}

// jvm refuses what only a JVM could run.
func jvm(name string) error {
	return refuse("%s is a JVM program; Weir runs Go job binaries, built with `go build` from a main that calls Execute.", name)
}

// jvmClass tells a class file from a Mach-O file for several processors, which
// begins with the same bytes and then has their number instead of a version.
func jvmClass(head []byte) bool {
	return len(head) >= 8 && int(head[6])<<8|int(head[7]) >= 43
}

func inspectZip(name string, r io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return refuse("%s is a damaged archive (%v); Weir runs Go job binaries.", name, err)
	}
	for _, f := range archive.File {
		if f.Name == "META-INF/MANIFEST.MF" || strings.HasSuffix(f.Name, ".class") {
			return jvm(name)
		}
	}
	if strings.HasSuffix(strings.ToLower(name), ".jar") {
		return jvm(name)
	}
	return refuse("%s is an archive; Weir runs Go job binaries: upload the binary itself.", name)
}

func inspectELF(name string, r io.ReaderAt, size int64) error {
	f, err := elf.NewFile(r)
	if err != nil {
		return refuse("%s is a damaged or truncated executable file (%v).", name, err)
	}
	cpu := machines[f.Machine]
	if cpu == "" {
		cpu = strings.ToLower(strings.TrimPrefix(f.Machine.String(), "EM_"))
	}
	if f.Data == elf.ELFDATA2MSB && cpu == "ppc64le" {
		cpu = "ppc64"
	}
	if cpu != runtime.GOARCH || runtime.GOOS != "linux" {
		return otherPlatform(name, system(f), cpu)
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return refuse("%s is an object file and no program: build package main.", name)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && (p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off) {
			return refuse("%s is truncated: it has %d bytes, its header tells of at least %d.", name, size, p.Off+p.Filesz)
		}
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && (s.Offset > uint64(size) || s.FileSize > uint64(size)-s.Offset) {
			return refuse("%s is truncated: it has %d bytes, its section %s ends at %d.", name, size, s.Name, s.Offset+s.FileSize)
		}
	}
	if f.Entry == 0 {
		return refuse("%s is a library and no program: build package main.", name)
	}
	return nil
}

// system names the operating system an ELF file is for, as far as it says.
func system(f *elf.File) string {
	switch f.OSABI {
	case elf.ELFOSABI_FREEBSD:
		return "freebsd"
	case elf.ELFOSABI_NETBSD:
		return "netbsd"
	case elf.ELFOSABI_OPENBSD:
		return "openbsd"
	}
	return "linux"
}

func machO(head []byte) bool {
	for _, magic := range []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xfe\xed\xfa\xce", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

func inspectMachO(name string, r io.ReaderAt) error {
	f, err := macho.NewFile(r)
	if err != nil {
		return refuse("%s is a damaged or truncated executable file (%v).", name, err)
	}
	cpu := "amd64"
	if f.Cpu == macho.CpuArm64 {
		cpu = "arm64"
	}
	if runtime.GOOS != "darwin" || cpu != runtime.GOARCH {
		return otherPlatform(name, "darwin", cpu)
	}
	return nil
}

func otherPlatform(name, os, cpu string) error {
	return refuse("%s is a program for %s/%s; this cluster runs %s/%s: build it with GOOS=%s GOARCH=%s.",
		name, os, cpu, runtime.GOOS, runtime.GOARCH, runtime.GOOS, runtime.GOARCH)
}

// text reports whether the head of a file reads as text.
func text(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	// A character may be cut at the end.
	for cut := 0; cut < utf8.UTFMax && cut < len(head); cut++ {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
	}
	return false
}
