package heatcloudwatch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// asked returns the time of a report, after a look at what CloudWatch is asked for: whole minutes.
func asked(t *testing.T, o heatcloudwatch.Options) (from, to time.Time) {
	t.Helper()
	client := metricData(func(in *cloudwatch.GetMetricDataInput) (*cloudwatch.GetMetricDataOutput, error) {
		from, to = *in.StartTime, *in.EndTime
		return &cloudwatch.GetMetricDataOutput{}, nil
	})
	report, err := heatcloudwatch.Metrics(t.Context(), client, describer{}, "views", o)
	if err != nil {
		t.Fatal(err)
	}
	if !report.From.Equal(from) || report.To.After(to) || to.Sub(report.To) >= time.Minute || to.Second() != 0 || report.From.Location() != time.UTC || report.To.Location() != time.UTC {
		t.Errorf("asked for %v to %v, the report is of %v to %v", from, to, report.From, report.To)
	}
	return from, report.To
}

// Whole minutes are asked for, in UTC, however short and in whatever zone the time is.
func TestOptionsAreWholeMinutes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour + 7*time.Second) // 01:00:07
		kathmandu := time.FixedZone("NPT", 5*3600+45*60)
		day := func(hour, minute, second int) time.Time {
			return time.Date(2000, 1, 1, hour, minute, second, 0, time.UTC)
		}
		for _, test := range []struct {
			options  heatcloudwatch.Options
			from, to time.Time
		}{
			{heatcloudwatch.Options{}, day(0, 0, 0), day(1, 0, 7)},
			{heatcloudwatch.Options{Last: time.Second}, day(0, 59, 0), day(1, 0, 7)},
			{heatcloudwatch.Options{Last: 90 * time.Second}, day(0, 58, 0), day(1, 0, 7)},
			{heatcloudwatch.Options{To: day(0, 30, 0), Last: time.Nanosecond}, day(0, 29, 0), day(0, 30, 0)},
			{heatcloudwatch.Options{To: day(0, 30, 1), Last: time.Minute}, day(0, 30, 0), day(0, 31, 0)},
			{heatcloudwatch.Options{To: day(0, 30, 1).In(kathmandu), Last: time.Minute}, day(0, 30, 0), day(0, 31, 0)},
			{heatcloudwatch.Options{To: day(1, 1, 6), Last: time.Minute}, day(0, 59, 0), day(1, 0, 7)}, // a clock that is ahead
			{heatcloudwatch.Options{Last: 15 * 24 * time.Hour}, day(1, 0, 0).AddDate(0, 0, -15), day(1, 0, 7)},
		} {
			if from, to := asked(t, test.options); !from.Equal(test.from) || !to.Equal(test.to) {
				t.Errorf("%+v: %v to %v, want %v to %v", test.options, from, to, test.from, test.to)
			}
		}
	})
}

// What CloudWatch cannot know is not asked for.
func TestOptionsWithinWhatIsKept(t *testing.T) {
	now := time.Now()
	for want, o := range map[string]heatcloudwatch.Options{
		"negative Last -1s":         {Last: -time.Second},
		"by the minute for 15 days": {Last: 15*24*time.Hour + 2*time.Minute},
		"Last of 1h0m0s before":     {To: now.AddDate(0, 0, -15), Last: time.Hour},
		"is in the future":          {To: now.Add(time.Hour)},
		"Top of 26 is out of range": {Top: 26},
	} {
		if _, err := heatcloudwatch.Metrics(t.Context(), nil, nil, "views", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", o, err, want)
		}
	}
}
