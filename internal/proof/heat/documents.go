package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// document is an example of a document, as the command's test writes it.
type document struct {
	Name        string
	Typed       []string
	Output      string
	Want, Wrong []string
}

// documents types in the examples of the documents as their readers would, and prints what comes of it.
func documents(ctx context.Context, p *proof) error {
	var result []document
	if _, err := p.command.Run(ctx, &result, "TestDocuments"); err != nil {
		return err
	}
	lambda, err := lambdaOf004(ctx)
	if err != nil {
		return err
	}
	result = append(result, lambda)
	for _, d := range result {
		fmt.Fprintf(p.Out, "\n-- %s\n", d.Name)
		for _, line := range d.Typed {
			fmt.Fprintf(p.Out, "$ %s\n", line)
		}
		fmt.Fprintf(p.Out, "%s\n", strings.TrimRight(d.Output, "\n"))
		says := "all of that"
		if len(d.Wrong) > 0 {
			says = strings.Join(d.Wrong, "; ")
		}
		p.Must(d.Name, says, "it says: "+strings.Join(d.Want, "; "), len(d.Wrong) == 0)
	}
	fmt.Fprintln(p.Out)
	p.Must("documents typed in", fmt.Sprint(len(result)), "7", len(result) == 7)
	return nil
}

var lambdaLine = regexp.MustCompile(`a function in AWS Lambda logs: (.*)`)

// lambdaOf004 is the function of document 004, which the stream of a table invokes.
func lambdaOf004(ctx context.Context) (document, error) {
	d := document{
		Name: "004: a function that the stream invokes", Want: []string{"user-12345"},
		Typed: []string{"lambda.Start(handler), where handler calls reader.Add(event) and heat.Explain(reader.Report(), heat.Rules{})"},
	}
	out, err := goTest(ctx, "./heat/heatlambda", "-v", "-run", "^TestHotKeyInLambda$")
	if err != nil {
		return d, err
	}
	for _, line := range lambdaLine.FindAllStringSubmatch(out, -1) {
		d.Output += line[1] + "\n"
	}
	if !strings.Contains(d.Output, "user-12345") {
		d.Wrong = []string{`no "user-12345"`}
	}
	return d, nil
}
