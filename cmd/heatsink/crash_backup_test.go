package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestBackupsSurviveKills kills a server with SIGKILL while it writes, makes backups
// and restores. Every write is a transaction that gives two items the same number, one
// more than before. So what a backup must have is known, and what the table was at
// any time.
func TestBackupsSurviveKills(t *testing.T) {
	c := &crash{dir: filepath.Join(t.TempDir(), "data"), random: rand.New(rand.NewPCG(3, 3))}
	k := &keeper{backups: map[string][2]int{}}
	for round := range 4 {
		p := c.start(t)
		p.mayTell = notComplete
		if round == 0 {
			k.create(t, p)
		}
		k.verify(t, p, c.random, round)
		var work sync.WaitGroup
		work.Go(func() { k.write(t, p.client) })
		work.Go(func() { k.backUp(t, p.client, round) })
		time.Sleep(100*time.Millisecond + time.Duration(c.random.Int64N(int64(200*time.Millisecond))))
		p.kill(t)
		work.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	p := c.start(t)
	p.mayTell = notComplete
	k.verify(t, p, c.random, 4)
	p.end(t)
	t.Logf("%d writes, %d backups", len(k.acked), len(k.backups))
}

const notComplete = "a backup was not complete when the process ended"

// keeper knows what was written and backed up.
type keeper struct {
	mu      sync.Mutex
	begun   []time.Time       // of number n at n-1
	acked   []time.Time       // likewise; the zero time if the answer was lost
	backups map[string][2]int // by ARN: the least and the greatest number that it may have
	since   time.Time         // recovery is on
}

func (k *keeper) create(t *testing.T, p *process) {
	t.Helper()
	if err := createTable(t.Context(), p.client, plainTable); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
		TableName:                        aws.String(plainTable),
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	}); err != nil {
		t.Fatal(err)
	}
	k.since = time.Now()
}

// write writes until the server is dead.
func (k *keeper) write(t *testing.T, client *dynamodb.Client) {
	for {
		k.mu.Lock()
		k.begun, k.acked = append(k.begun, time.Now()), append(k.acked, time.Time{})
		n := len(k.begun)
		k.mu.Unlock()
		var actions []types.TransactWriteItem
		for _, id := range []string{"a", "b"} {
			actions = append(actions, types.TransactWriteItem{Put: &types.Put{
				TableName: aws.String(plainTable), Item: map[string]types.AttributeValue{"id": text(id), "n": whole(n)},
			}})
		}
		if _, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: actions}); err != nil {
			refuse(t, fmt.Sprint(n), err)
			return
		}
		k.mu.Lock()
		k.acked[n-1] = time.Now()
		k.mu.Unlock()
	}
}

// numbers are the greatest number that was acknowledged, and the greatest that was begun.
func (k *keeper) numbers() (acked, begun int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, at := range k.acked {
		if !at.IsZero() {
			acked = i + 1
		}
	}
	return acked, len(k.begun)
}

// backUp makes backups and restores until the server is dead.
func (k *keeper) backUp(t *testing.T, client *dynamodb.Client, round int) {
	for i := 0; ; i++ {
		least, _ := k.numbers()
		out, err := client.CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String(plainTable), BackupName: aws.String("kept")})
		if err != nil {
			refuse(t, "backup", err)
			return
		}
		_, most := k.numbers()
		for status := out.BackupDetails.BackupStatus; status != types.BackupStatusAvailable; { // until then a crash may take it
			b, err := client.DescribeBackup(t.Context(), &dynamodb.DescribeBackupInput{BackupArn: out.BackupDetails.BackupArn})
			if err != nil {
				refuse(t, "backup", err)
				return
			}
			status = b.BackupDescription.BackupDetails.BackupStatus
		}
		k.backups[*out.BackupDetails.BackupArn] = [2]int{least, most}
		if _, err := client.RestoreTableFromBackup(t.Context(), &dynamodb.RestoreTableFromBackupInput{
			BackupArn: out.BackupDetails.BackupArn, TargetTableName: aws.String(fmt.Sprintf("restored-%d-%d", round, i)),
		}); err != nil {
			refuse(t, "restore", err)
			return
		}
	}
}

// verify checks what the server has.
func (k *keeper) verify(t *testing.T, p *process, random *rand.Rand, round int) {
	t.Helper()
	ctx := t.Context()
	for arn, numbers := range k.backups {
		b, err := p.client.DescribeBackup(ctx, &dynamodb.DescribeBackupInput{BackupArn: &arn})
		if err != nil || b.BackupDescription.BackupDetails.BackupStatus != types.BackupStatusAvailable {
			t.Fatalf("a backup that was acknowledged: %+v, %v", b, err)
		}
		if random.IntN(len(k.backups)) > 3 {
			continue
		}
		name := fmt.Sprintf("verified-%d-%d", round, random.Uint32())
		if _, err := p.client.RestoreTableFromBackup(ctx, &dynamodb.RestoreTableFromBackupInput{BackupArn: &arn, TargetTableName: &name}); err != nil {
			t.Fatal(err)
		}
		if n := k.number(t, p, name); n < numbers[0] || n > numbers[1] {
			t.Errorf("a backup has number %d, want %d to %d", n, numbers[0], numbers[1])
		}
	}
	names, err := tables(ctx, p.client)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names { // those that were being restored as well
		k.number(t, p, name)
		if name != plainTable {
			if _, err := p.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(k.begun) == 0 {
		return
	}
	for i := range 3 {
		at := k.since.Add(time.Duration(random.Int64N(int64(k.begun[len(k.begun)-1].Sub(k.since))))).Truncate(time.Millisecond)
		if at.Before(k.since) {
			continue
		}
		name := fmt.Sprintf("past-%d-%d", round, i)
		if _, err := p.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: aws.String(plainTable), TargetTableName: &name, RestoreDateTime: &at,
		}); err != nil {
			t.Fatal(err)
		}
		least, most := 0, 0
		for i := range k.begun {
			if !k.acked[i].IsZero() && !k.acked[i].After(at) {
				least = i + 1
			}
			if !k.begun[i].After(at) {
				most = i + 1
			}
		}
		if n := k.number(t, p, name); n < least || n > most {
			t.Errorf("at %v the table had number %d, want %d to %d", at, n, least, most)
		}
	}
}

// number waits until a table is whole, and returns the number in it.
func (k *keeper) number(t *testing.T, p *process, table string) int {
	t.Helper()
	for {
		d, err := p.client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		if d.Table.TableStatus == types.TableStatusActive {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	numbers := map[string]int{}
	out, err := p.client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range out.Items {
		n, err := strconv.Atoi(it["n"].(*types.AttributeValueMemberN).Value)
		if err != nil {
			t.Fatal(err)
		}
		numbers[it["id"].(*types.AttributeValueMemberS).Value] = n
	}
	if numbers["a"] != numbers["b"] {
		t.Errorf("table %s has a part of a transaction: %v", table, numbers)
	}
	return numbers["a"]
}
