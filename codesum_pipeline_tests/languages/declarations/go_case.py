"""Go as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
// Copyright 2024 The Authors. All rights reserved.

// Package store keeps items in memory.
package store

import (
	"errors"
	"fmt"

	log "github.com/example/log"
)

// ErrMissing says that there is no such item.
var ErrMissing = errors.New("missing")

// Kind is the kind of an item.
type Kind int

const (
	Book Kind = iota // paper
	Film
)

type (
	// Item is one thing.
	Item struct {
		Name  string `json:"name"`
		Price float64
	}

	// Finder finds items.
	Finder interface {
		fmt.Stringer
		// Find returns the item of a name.
		Find(name string) (*Item, error)
	}
)

// Store holds items by name.
type Store[T any] struct {
	items map[string]*T
	hooks []func(*T)
}

// NewStore makes an empty store.
func NewStore[T any](hooks ...func(*T)) *Store[T] {
	return &Store[T]{items: map[string]*T{}, hooks: hooks}
}

// Add puts an item in.
func (s *Store[T]) Add(name string, item *T) {
	s.items[name] = item
	for i := 0; i < len(s.hooks); i++ { // tell everyone
		s.hooks[i](item)
	}
}

// Find returns the item of a name,
// or ErrMissing.
func (s *Store[T]) Find(name string) (*T, error) {
	if item, ok := s.items[name]; ok {
		return item, nil
	} else if name == "" {
		panic("no name")
	}
	log.Warn("missing: %s", name)
	return nil, fmt.Errorf("%q: %w", name, ErrMissing)
}

func price(item *Item, kinds ...Kind) (total float64) {
	defer func() { recover() }()
	for _, kind := range kinds {
		switch kind {
		case Book:
			total += item.Price
		case Film:
			total += item.Price * 2
		default:
			total--
		}
	}
	return total
}
"""

CONDITIONS = """\
package p

func decide(mode string, size int, ready bool) error {
	if err := check(size); err != nil {
		return failed(err)
	} else if size > 9 {
		tooLarge()
	} else {
		fits()
	}
	if !ready {
		wait()
	}
	always()
	switch mode {
	case "read", "write":
		use(mode)
	default:
		refuse(mode)
	}
	switch {
	case size > 3:
		several()
	}
	return nil
}
"""

OPENING = """\
package p

func apart() {
	// Walk all of it once,
	// in order.

	begin()
	end()
}

func whole() {
	// Walk all of it once, in order.
	begin()
}

func first() {
	// Walk all of it once, in order.
	begin()
	end()
}

func task() {
	// TODO: walk all of it once, in order.

	begin()
	end()
}

func code() {
	// walk(all, once);

	begin()
	end()
}
"""

CASE = LanguageCase(
    language="go",
    path="store/store.go",
    source=SOURCE,
    reformatted=SOURCE.replace("\t", "    ")
    .replace("defer func() { recover() }()", "defer func() {\n        recover()\n    }()")
    .replace("Name  string", "Name string")
    .replace("\n\nfunc price", "\n\n\n\nfunc price"),
    commented=SOURCE.replace(" // tell everyone", "")
    .replace("// paper", "/* on paper */")
    .replace("\ttotal--", "\t// less\n\t\t\ttotal--"),
    edit=("item.Price * 2", "item.Price * 3"),
    edited=frozenset({"price"}),
    rename=("NewStore", "OpenStore"),
    renamed={"NewStore": "OpenStore"},
    conditions=CONDITIONS,
    when={
        "check": "",
        "failed": "err != nil",
        "tooLarge": "size > 9",
        "fits": "neither err != nil nor size > 9",
        "wait": "not ready",
        "always": "",
        "use": 'mode is "read" or "write"',
        "refuse": "mode is anything else",
        "several": "size > 3",
    },
    opening=OPENING,
)
