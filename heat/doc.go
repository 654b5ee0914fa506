// Package heat shows which keys of a DynamoDB table are hot, and why.
//
// A partition takes 1,000 write and 3,000 read units a second. The SDK's retries hide the throttles of a key above that
// limit, and metrics by the minute hide a hot second, so teams hear of it from their users. This package counts the calls
// themselves:
//
//	recorder, err := heat.NewRecorder(heat.Options{})
//	client := dynamodb.NewFromConfig(cfg, recorder.Option) // counts every attempt, changes none
//	…
//	report := recorder.Report()
//	for _, finding := range heat.Explain(report, heat.Rules{}) {
//		fmt.Println(finding) // critical: posts: Partition key 'POST#12345' has 1,000 requests/sec (hot partition)
//	}
//
// A [Recorder] counts the units of every key in a sketch of bounded size, so each figure has an error bound. A [Report] is
// what a source saw in a time range. Sources are live calls, a stream, a scan, an export, CloudWatch and Contributor
// Insights; all make the same kind of report. A [Finding] is a diagnosed problem with its evidence, its cause and its
// remedy; [Explain] returns them. A [Pattern] is all keys of one shape, such as THREAT#{id}#{month}.
package heat
