// A Go program whose deferred handler reports a panic to AOS (standard library only).
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
)

func report() {
	problem := recover()
	if problem == nil {
		return
	}
	class := "panic"
	if err, ok := problem.(error); ok {
		class = fmt.Sprintf("%T", err)
	}
	body, _ := json.Marshal(map[string]any{
		"project": os.Getenv("SVC_PROJECT"), "error_level": "fatal", "error_message": fmt.Sprint(problem),
		"exception_class": class, "stack_trace": fmt.Sprintf("panic: %v\n\n%s", problem, debug.Stack()),
		"environment": "production", "app_version": "1.4.0", "tags": []string{"go"},
	})
	request, _ := http.NewRequest("POST", os.Getenv("SVC_URL")+"/api/errors/v1/report", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_TOKEN"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, "could not report:", err)
		os.Exit(1)
	}
	text, _ := io.ReadAll(answer.Body)
	fmt.Println(string(text))
	os.Exit(1)
}

func shelf(stock []int, index int) int { return stock[index] }

func main() {
	defer report()
	fmt.Println(shelf([]int{4, 2}, len(os.Args)+1))
}
