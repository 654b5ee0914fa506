package monitoring

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/heatsink-go/heatsink/internal/partition"
)

const alarmsFile = "../../docs/monitoring/cloudwatch-alarms.yml"

// template is the part of a CloudFormation template that is looked at. The tags of functions, such as !Sub, are left out.
type template struct {
	Parameters map[string]struct{ Type string }
	Conditions map[string]any
	Resources  map[string]struct {
		Type, Condition string
		Properties      struct {
			AlarmDescription, Namespace, MetricName, Statistic, ComparisonOperator, TreatMissingData string
			Dimensions                                                                               []struct{ Name, Value string }
			Period, EvaluationPeriods, DatapointsToAlarm                                             int
			Threshold                                                                                any
			Metrics                                                                                  []struct {
				ID, Expression string
				Period         int
			}
			AlarmActions any
		}
	}
}

func readAlarms(t *testing.T) (template, string) {
	t.Helper()
	text, err := os.ReadFile(alarmsFile)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var read template
	if err := json.Unmarshal(asJSON, &read); err != nil {
		t.Fatal(err)
	}
	return read, string(text)
}

// Alarms name metrics that DynamoDB has, as the engine does, or that heatotel exports, and use what the template declares.
func TestAlarmsNameWhatExists(t *testing.T) {
	var dynamo, ours []string
	for name := range (partition.Minute{}).Metrics() {
		dynamo = append(dynamo, name)
	}
	for _, m := range page(t) {
		ours = append(ours, "heatsink.heat."+m.openTelemetry)
	}
	read, text := readAlarms(t)
	if len(read.Resources) < 7 {
		t.Errorf("%d alarms", len(read.Resources))
	}
	quoted := regexp.MustCompile(`\((?:DISTINCT )?"([^"]+)"\)`)
	for name, r := range read.Resources {
		p := &r.Properties
		if r.Type != "AWS::CloudWatch::Alarm" || p.AlarmDescription == "" || p.Threshold == nil || p.TreatMissingData == "" || p.ComparisonOperator == "" {
			t.Errorf("%s lacks something: %+v", name, p)
		}
		if p.DatapointsToAlarm > p.EvaluationPeriods {
			t.Errorf("%s: %d points of %d", name, p.DatapointsToAlarm, p.EvaluationPeriods)
		}
		if p.MetricName != "" && (p.Namespace != "AWS/DynamoDB" || !slices.Contains(dynamo, p.MetricName) || p.Statistic != "Sum" || p.Period != 60) {
			t.Errorf("%s: %s %s of %s", name, p.Statistic, p.MetricName, p.Namespace)
		}
		for _, m := range p.Metrics {
			found := quoted.FindStringSubmatch(m.Expression)
			if found == nil || !slices.Contains(ours, found[1]) {
				t.Errorf("%s: nobody exports what %q asks for", name, m.Expression)
			}
		}
		if _, ok := read.Conditions[r.Condition]; r.Condition != "" && !ok {
			t.Errorf("%s: no condition %s", name, r.Condition)
		}
	}
	for _, found := range regexp.MustCompile(`!Ref (\w+)|\$\{(\w+)\}`).FindAllStringSubmatch(text, -1) {
		name := found[1] + found[2]
		if _, ok := read.Parameters[name]; !ok && name != "AWS" {
			t.Errorf("nothing is called %s", name)
		}
	}
	for name := range read.Parameters {
		if !strings.Contains(text, "!Ref "+name) && !strings.Contains(text, "${"+name+"}") {
			t.Errorf("parameter %s is not used", name)
		}
	}
}
