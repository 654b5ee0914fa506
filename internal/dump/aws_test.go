package dump

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

// awsExport lays out an export under root as `aws s3 cp --recursive s3://bucket root` leaves it there, by the developer guide's "DynamoDB
// table export output format". Manifests have the members and the spaces of its examples. lines are those of each data file.
func awsExport(t *testing.T, root, prefix, id, kind, format string, lines ...string) {
	t.Helper()
	write := func(key string, content []byte) {
		path := filepath.Join(root, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := prefix + "AWSDynamoDB/"
	data := base + id + "/data/"
	times := `"exportTime": "2020-11-04T07:28:34.028Z",`
	if kind == incrementalExport {
		data = base + "data/"
		times = `"exportFromTime": "2023-09-18T17:00:00.000Z", "exportToTime": "2023-09-19T04:00:00.000Z", "outputView": "NEW_AND_OLD_IMAGES",`
	}
	items, files := 0, ""
	for i, text := range lines {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		key := fmt.Sprintf("%s%sqyz%d.json.gz", data, strings.ReplaceAll(id, "-", ""), i)
		write(key, zipped.Bytes())
		n := strings.Count(text, "\n")
		items += n
		sum := md5.Sum(zipped.Bytes())
		files += fmt.Sprintf("{\"itemCount\":%d,\"md5Checksum\":%q,\"etag\":\"%s-1\",\"dataFileS3Key\":%q}\n", n, checksum(zipped.Bytes()), hex.EncodeToString(sum[:]), key)
	}
	summary := fmt.Sprintf(`{
   "version": "2020-06-30",
   "exportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/ProductCatalog/export/%s",
   "startTime": "2020-11-04T07:28:34.028Z",
   "endTime": "2020-11-04T07:33:43.897Z",
   "tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/ProductCatalog",
   "tableId": "12345a12-abcd-123a-ab12-1234abc12345",
   %s
   "s3Bucket": "ddb-productcatalog-export",
   "s3Prefix": %q,
   "s3SseAlgorithm": "AES256",
   "s3SseKmsKeyId": null,
   "manifestFilesS3Key": "%s%s/manifest-files.json",
   "billedSizeBytes": 0,
   "itemCount": %d,
   "outputFormat": %q,
   "exportType": %q
}`, id, times, strings.TrimSuffix(prefix, "/"), base, id, items, format, kind)
	write(base+id+"/_started", nil)
	write(base+id+"/manifest-files.json", []byte(files))
	write(base+id+"/manifest-files.checksum", []byte(checksum([]byte(files))))
	write(base+id+"/manifest-summary.json", []byte(summary))
	write(base+id+"/manifest-summary.md5", []byte(checksum([]byte(summary))))
}

// product is the example of the developer guide, everyType what a table may have besides.
const (
	product = `{"Item":{"Authors":{"SS":["Author1","Author2"]},"Dimensions":{"S":"8.5 x 11.0 x 1.5"},"ISBN":{"S":"333-3333333333"},"Id":{"N":"103"},` +
		`"InPublication":{"BOOL":false},"PageCount":{"N":"600"},"Price":{"N":"2000"},"ProductCategory":{"S":"Book"},"Title":{"S":"Book 103 Title"}}}` + "\n"
	everyType = `{"Item":{"Id":{"N":"-1.5"},"b":{"B":"AP8="},"bs":{"BS":["AA==","AP8="]},"ns":{"NS":["1E+2","-0.001"]},"none":{"NULL":true},"yes":{"BOOL":true},` +
		`"empty":{"S":""},"l":{"L":[{"L":[]},{"M":{}},{"S":"\u00e9\u2028\n\"\\"}]},"m":{"M":{"a.b #1":{"N":"9.9999999999999999999999999999999999999E+125"}}},"😀":{"S":"😀"}}}` + "\n"
)

func TestExportsOfAWS(t *testing.T) {
	for _, c := range []struct{ name, prefix, at string }{
		{"the bucket", "", "."},
		{"a bucket with a prefix", "2020-Nov/shop/", "."},
		{"a prefix called data", "data/", "."},
		{"AWSDynamoDB", "2020-Nov/", "2020-Nov/AWSDynamoDB"},
		{"the export alone", "p/", "p/AWSDynamoDB/01693685827463-2d8752fd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, client := t.TempDir(), local.Start(t).Client()
			awsExport(t, root, c.prefix, "01693685827463-2d8752fd", fullExport, dynamoDBJSON, product, "", everyType) // a partition without items has a file, too
			in, err := Import(t.Context(), client, ImportOptions{Dir: filepath.Join(root, filepath.FromSlash(c.at)), Key: "Id:N"})
			if err != nil || in.Items != 2 || in.Files != 3 || in.Table != "ProductCatalog" || !in.Created {
				t.Fatalf("got %+v, %v", in, err)
			}
			want := map[string]bool{}
			for _, line := range []string{product, everyType} {
				it, err := parseLine(strings.TrimSpace(line))
				if err != nil {
					t.Fatal(err)
				}
				canonical, err := appendLine(nil, it)
				if err != nil {
					t.Fatal(err)
				}
				want[string(canonical)] = true
			}
			if got := contents(t, client, "ProductCatalog"); !reflect.DeepEqual(got, want) {
				t.Errorf("the table has %v, want %v", got, want)
			}
		})
	}
}

// changed are the three examples of the developer guide, with a key of a number.
const changed = `{"Metadata":{"WriteTimestampMicros":"1680109764000000"},"Keys":{"Id":{"N":"100"}},"NewImage":{"Id":{"N":"100"},"FirstName":{"S":"John"}}}
{"Metadata":{"WriteTimestampMicros":"1680109764000000"},"Keys":{"Id":{"N":"103"}},"OldImage":{"Id":{"N":"103"}},"NewImage":{"Id":{"N":"103"},"Title":{"S":"new"}}}
{"Metadata":{"WriteTimestampMicros":"1680109764000000"},"Keys":{"Id":{"N":"-1.5"}},"OldImage":{"Id":{"N":"-1.5"}}}
`

func TestIncrementalExportsOfAWS(t *testing.T) {
	root, client := t.TempDir(), local.Start(t).Client()
	const first, then = "01693685827463-2d8752fd", "01693685934212-ac809da5"
	awsExport(t, root, "x/", first, fullExport, dynamoDBJSON, product+everyType)
	awsExport(t, root, "x/", then, incrementalExport, dynamoDBJSON, changed)
	at := func(id string) string { return filepath.Join(root, "x", exportsDir, id) }
	attempt := func(o ImportOptions, want string) {
		t.Helper()
		if _, err := Import(t.Context(), client, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	attempt(ImportOptions{Dir: at(then)}, "table ProductCatalog does not exist, and")
	attempt(ImportOptions{Dir: root}, "it has 2 exports: name one of them: ")
	if _, err := Import(t.Context(), client, ImportOptions{Dir: at(first), Key: "Id:N"}); err != nil {
		t.Fatal(err)
	}
	attempt(ImportOptions{Dir: at(then)}, "table ProductCatalog has items")
	for range 2 { // again is the same
		in, err := Import(t.Context(), client, ImportOptions{Dir: at(then), Replace: true})
		if err != nil || in.Items != 3 {
			t.Fatalf("got %+v, %v", in, err)
		}
	}
	want := map[string]bool{
		"{\"Item\":{\"FirstName\":{\"S\":\"John\"},\"Id\":{\"N\":\"100\"}}}\n": true,
		"{\"Item\":{\"Id\":{\"N\":\"103\"},\"Title\":{\"S\":\"new\"}}}\n":      true,
	}
	if got := contents(t, client, "ProductCatalog"); !reflect.DeepEqual(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
	t.Run("without its data", func(t *testing.T) {
		if err := os.RemoveAll(filepath.Join(root, "x", exportsDir, "data")); err != nil {
			t.Fatal(err)
		}
		attempt(ImportOptions{Dir: at(then), Replace: true}, "is in the directory data beside its own")
	})
	t.Run("a line of a full export", func(t *testing.T) {
		root := t.TempDir()
		awsExport(t, root, "", then, incrementalExport, dynamoDBJSON, product)
		attempt(ImportOptions{Dir: root, Replace: true}, "line 1: not an item in DynamoDB JSON: it has an item, but")
	})
	for name, keys := range map[string]string{
		"the key of another item": `{"Id":{"N":"2"}}`, "a key of another type": `{"Id":{"S":"1"}}`, "no key": `{}`, "more than a key": `{"Id":{"N":"1"},"a":{"S":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			awsExport(t, root, "", then, incrementalExport, dynamoDBJSON, `{"Keys":`+keys+`,"NewImage":{"Id":{"N":"1"},"a":{"S":"x"}}}`+"\n")
			attempt(ImportOptions{Dir: root, Replace: true}, "line 1: not an item in DynamoDB JSON: its Keys are not the key of its NewImage")
		})
	}
	t.Run("Ion", func(t *testing.T) {
		root := t.TempDir()
		awsExport(t, root, "", first, fullExport, "ION", "$ion_1_0 {Item:{Id:103.}}\n")
		attempt(ImportOptions{Dir: root}, `its format is "ION", but only DYNAMODB_JSON can be read: export the table in that format`)
	})
}

// The table may be named by its ARN, as everywhere.
func TestImportByARN(t *testing.T) {
	root, client := t.TempDir(), local.Start(t).Client()
	awsExport(t, root, "", "01693685827463-2d8752fd", fullExport, dynamoDBJSON, product)
	if _, err := client.CreateTable(t.Context(), (&schema{KeySchema: keys("Id"), AttributeDefinitions: definitions("Id", "N")}).input("made")); err != nil {
		t.Fatal(err)
	}
	name := "made"
	d, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		t.Fatal(err)
	}
	in, err := Import(t.Context(), client, ImportOptions{Dir: root, Table: *d.Table.TableArn})
	if err != nil || in.Items != 1 || len(contents(t, client, "made")) != 1 {
		t.Errorf("got %+v, %v", in, err)
	}
}

func definitions(name string, kind types.ScalarAttributeType) []types.AttributeDefinition {
	return []types.AttributeDefinition{{AttributeName: &name, AttributeType: kind}}
}
