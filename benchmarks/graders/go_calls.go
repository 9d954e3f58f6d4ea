// Prints what each call of a Go tree calls, as go/types sees it.
//
//	go run go_calls.go ROOT [MODULE [names]] > calls.jsonl
//
// With "names", every name that is used is printed and not only callees; a constant or variable of a package is a
// "constant".
// MODULE is the import path of ROOT; "std" (the standard library's own sources)
// where there is none. Nothing is fetched: an import that is neither below ROOT
// nor of the standard library stays unresolved. Each line is
// {"file","line","column","target_file","target_line","target_name","kind"}:
// 1-based lines, a 0-based column in bytes, of the callee's last name. The
// target is null outside of ROOT. A literal of a type is a call of the type.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type call struct {
	File       string  `json:"file"`
	Line       int     `json:"line"`
	Column     int     `json:"column"`
	TargetFile *string `json:"target_file"`
	TargetLine int     `json:"target_line"`
	TargetName string  `json:"target_name"`
	Kind       string  `json:"kind"`
}

type loader struct {
	root, module string
	allNames     bool
	set          *token.FileSet
	packages     map[string]*types.Package
	checked      map[string]bool
	out          *json.Encoder
}

// folder of a package by its import path; "" where it is not at hand.
func (l *loader) folder(path string) string {
	if l.module != "std" && (path == l.module || strings.HasPrefix(path, l.module+"/")) {
		return filepath.Join(l.root, strings.TrimPrefix(path, l.module))
	}
	for _, base := range []string{build.Default.GOROOT + "/src/", build.Default.GOROOT + "/src/vendor/"} {
		if l.module == "std" {
			base = strings.Replace(base, build.Default.GOROOT+"/src", l.root, 1)
		}
		if found, err := os.Stat(base + path); err == nil && found.IsDir() {
			return base + path
		}
	}
	return ""
}

func (l *loader) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if found, ok := l.packages[path]; ok {
		if found == nil {
			return nil, fmt.Errorf("import cycle or nothing at %s", path)
		}
		return found, nil
	}
	l.packages[path] = nil
	folder := l.folder(path)
	if folder == "" {
		return nil, fmt.Errorf("not at hand: %s", path)
	}
	described, err := build.Default.ImportDir(folder, 0)
	if err != nil {
		return nil, err
	}
	l.packages[path] = l.check(path, folder, described.GoFiles, isAny)
	return l.packages[path], nil
}

func (l *loader) check(path, folder string, names []string, printed func(string) bool) *types.Package {
	var files []*ast.File
	for _, name := range names {
		if file, err := parser.ParseFile(l.set, filepath.Join(folder, name), nil, 0); err == nil {
			files = append(files, file)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: l, FakeImportC: true, Error: func(error) {}}
	checked, _ := config.Check(path, l.set, files, info)
	for _, file := range files {
		name := l.set.Position(file.Pos()).Filename
		if strings.HasPrefix(name, l.root+"/") && printed(name) {
			l.print(file, info)
		}
	}
	return checked
}

func (l *loader) print(file *ast.File, info *types.Info) {
	ast.Inspect(file, func(node ast.Node) bool {
		if l.allNames {
			if name, ok := node.(*ast.Ident); ok {
				l.printOne(name, info)
			}
			return true
		}
		switch found := node.(type) {
		case *ast.CallExpr:
			l.printOne(lastName(found.Fun), info)
		case *ast.CompositeLit:
			if found.Type != nil {
				l.printOne(lastName(found.Type), info)
			}
		}
		return true
	})
}

func lastName(callee ast.Expr) *ast.Ident {
	switch found := callee.(type) {
	case *ast.Ident:
		return found
	case *ast.SelectorExpr:
		return found.Sel
	case *ast.ParenExpr:
		return lastName(found.X)
	case *ast.IndexExpr:
		return lastName(found.X)
	case *ast.IndexListExpr:
		return lastName(found.X)
	}
	return nil
}

func (l *loader) printOne(name *ast.Ident, info *types.Info) {
	if name == nil {
		return
	}
	object := info.Uses[name]
	if object == nil {
		return
	}
	kind := "function"
	switch found := object.(type) {
	case *types.Func:
		object = found.Origin()
	case *types.TypeName:
		kind = "type"
	case *types.Builtin:
		kind = "builtin"
	default:
		kind = "variable"
		if l.allNames && object.Pkg() != nil && object.Parent() == object.Pkg().Scope() {
			kind = "constant"
		}
	}
	at := l.set.Position(name.Pos())
	line := call{File: l.relative(at.Filename), Line: at.Line, Column: at.Column - 1, TargetName: object.Name(), Kind: kind}
	if to := l.set.Position(object.Pos()); to.IsValid() && strings.HasPrefix(to.Filename, l.root+"/") {
		target := l.relative(to.Filename)
		line.TargetFile, line.TargetLine = &target, to.Line
	}
	l.out.Encode(line)
}

func (l *loader) relative(path string) string {
	relative, _ := filepath.Rel(l.root, path)
	return filepath.ToSlash(relative)
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	root, _ = filepath.EvalSymlinks(root)
	module := "std"
	if len(os.Args) > 2 {
		module = os.Args[2]
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	l := &loader{root: root, module: module, allNames: len(os.Args) > 3 && os.Args[3] == "names", set: token.NewFileSet(), packages: map[string]*types.Package{},
		out: json.NewEncoder(out)}
	build.Default.CgoEnabled = false
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		if name := entry.Name(); path != root && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		described, err := build.Default.ImportDir(path, 0)
		if err != nil {
			return nil
		}
		relative, _ := filepath.Rel(root, path)
		name := filepath.ToSlash(relative)
		if module != "std" {
			name = strings.TrimSuffix(module+"/"+strings.TrimPrefix(name, "."), "/")
		}
		l.Import(name)
		// Tests are checked with the package beside them; only their own calls are new.
		l.checkTests(name, path, described)
		return nil
	})
}

// checkTests reads a package's tests, in the package and beside it, and prints their calls alone.
func (l *loader) checkTests(name, folder string, described *build.Package) {
	if len(described.TestGoFiles) > 0 {
		l.check(name, folder, append(append([]string{}, described.GoFiles...), described.TestGoFiles...), isTest)
	}
	if len(described.XTestGoFiles) > 0 {
		l.check(name+"_test", folder, described.XTestGoFiles, isTest)
	}
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

func isAny(name string) bool { return true }
