// Package heat shows which keys of a DynamoDB table are hot, and why.
//
// A partition takes 1,000 write and 3,000 read units a second. The SDK's retries hide the throttles of a key that wants
// more, and metrics by the minute hide a second of it, so teams hear of it from their users. This package looks at the
// calls themselves:
//
//	recorder, err := heat.NewRecorder(heat.Options{})
//	client := dynamodb.NewFromConfig(cfg, recorder.Option) // sees every attempt, changes none
//	…
//	report := recorder.Report()
//	for _, finding := range heat.Explain(report, heat.Rules{}) {
//		fmt.Println(finding) // critical: posts: Partition key 'POST#12345' has 1,000 requests/sec (hot partition)
//	}
//
// The nouns: a [Recorder] counts the units of every key in a sketch of bounded size, so each figure comes with its error.
// A [Report] is what some source saw in a stretch of time: live calls, a stream, a scan, an export, CloudWatch or
// Contributor Insights; all of them make the same report. A [Finding] is a diagnosed problem with its evidence, its cause
// and what to do about it; [Explain] finds them. A [Pattern] is keys of the same shape taken together, as
// THREAT#{id}#{month}.
package heat
