package main

import (
	"net/http"

	st "example.com/app/go/store"
)

func main() {
	s := st.New()
	s.Save(st.Item{})
	run(func(x int) { handle(nil, nil) })
	http.HandleFunc("/items", handle)
}

func run(f func(int)) {}

func handle(w http.ResponseWriter, r *http.Request) {}
