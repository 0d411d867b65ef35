// Package store keeps things.
package store

import "fmt"

// Store is one.
type Store struct {
	Base
	items []Item
	sink  Sink
}

type Base struct{ n int }

func (b *Base) Reset() {}

type Sink interface {
	Write(text string) error
}

type Item struct{ Name string }

func (i Item) Show() string { return fmt.Sprint(i.Name) }

const Limit = 3

func New() *Store { return &Store{} }
