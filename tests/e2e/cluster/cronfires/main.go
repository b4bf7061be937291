// Command cronfires tells which window openings no CronJob schedule fires at,
// with the parser and the time zones that the CronJob controller uses.
//
// One JSON object per line on standard input, one per line on standard output, in the same order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // the controller has a database of its own too; the machine's may be missing or old

	"github.com/robfig/cron/v3"
)

type cronSchedule struct {
	Schedule string `json:"schedule"`
	TimeZone string `json:"timeZone"`
}

type question struct {
	Name      string         `json:"name"`
	Schedules []cronSchedule `json:"schedules"`
	Opens     []string       `json:"opens"`
}

type answer struct {
	Name   string   `json:"name"`
	Missed []string `json:"missed"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for number := 1; lines.Scan(); number++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fail("line %d: %v", number, err)
		}
		missed, err := missedOpens(asked)
		if err != nil {
			fail("line %d (%s): %v", number, asked.Name, err)
		}
		if err := encoder.Encode(answer{Name: asked.Name, Missed: missed}); err != nil {
			fail("%v", err)
		}
	}
	if err := lines.Err(); err != nil {
		fail("%v", err)
	}
	if err := out.Flush(); err != nil {
		fail("%v", err)
	}
}

func missedOpens(asked question) ([]string, error) {
	schedules := make([]cron.Schedule, 0, len(asked.Schedules))
	for _, one := range asked.Schedules {
		schedule, err := parse(one)
		if err != nil {
			return nil, err
		}
		schedules = append(schedules, schedule)
	}
	missed := []string{}
	for _, open := range asked.Opens {
		at, err := time.Parse(time.RFC3339, open)
		if err != nil {
			return nil, err
		}
		if !anyFires(schedules, at) {
			missed = append(missed, open)
		}
	}
	return missed, nil
}

// parse is the controller's way: spec.timeZone goes in front of the expression as TZ=<zone>.
func parse(one cronSchedule) (cron.Schedule, error) {
	if one.TimeZone == "" {
		return cron.ParseStandard(one.Schedule)
	}
	if _, err := time.LoadLocation(one.TimeZone); err != nil {
		return nil, err
	}
	return cron.ParseStandard(fmt.Sprintf("TZ=%s %s", one.TimeZone, one.Schedule))
}

func anyFires(schedules []cron.Schedule, at time.Time) bool {
	for _, schedule := range schedules {
		if firesFrom(schedule, at.Add(-chain), at) {
			return true
		}
	}
	return false
}

// chain is how long before an opening we begin to follow a schedule from firing to firing, as the controller does:
// where a clock change takes away a midnight, a firing can be lost that a question just before it would find.
const chain = 50 * time.Hour

func firesFrom(schedule cron.Schedule, from, at time.Time) bool {
	for next := schedule.Next(from); next.After(from) && !next.After(at); next = schedule.Next(from) {
		if next.Equal(at) {
			return true
		}
		from = next
	}
	return false
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "cronfires: "+format+"\n", arguments...)
	os.Exit(2)
}
