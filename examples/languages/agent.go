// The agent in Go, with the standard library alone: go run agent.go
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func main() {
	file, err := os.ReadFile(os.Getenv("AGL_TASK_FILE"))
	check(err)
	var task struct{ Question string }
	check(json.Unmarshal(file, &task))

	body, err := json.Marshal(map[string]any{
		"model":    os.Getenv("AGL_MODEL"),
		"messages": []message{{"user", task.Question + " Answer with a number."}},
	})
	check(err)
	request, err := http.NewRequest("POST", os.Getenv("OPENAI_BASE_URL")+"/chat/completions", bytes.NewReader(body))
	check(err)
	request.Header.Set("content-type", "application/json")
	request.Header.Set("authorization", "Bearer "+os.Getenv("OPENAI_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	check(err)
	defer response.Body.Close()

	var answer struct{ Choices []struct{ Message message } }
	check(json.NewDecoder(response.Body).Decode(&answer))
	if response.StatusCode != 200 || len(answer.Choices) == 0 {
		log.Fatalf("the model answered with status %d", response.StatusCode)
	}
	fmt.Println(answer.Choices[0].Message.Content)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
