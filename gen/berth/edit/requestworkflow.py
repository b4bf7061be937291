"""The workflow that turns requests by issue form into pull requests, which `berth init --requests` writes.

What strangers write goes through files and jq, never through the shell's or GitHub's own expressions. Berth
reads it in a step without a token.
"""

from berth.edit.prompts import ANSWER_MARK, FORM

_WORDS = {"HEADING": f"### {FORM['title'].heading}", "MARK": ANSWER_MARK}
_TEXT = """\
# Turns each request by the issue form into a pull request, and answers the issue. People merge.
# An edit of the issue, or a comment of its author with headings of the form, changes the same pull request.
# Allow pull requests in Settings > Actions > General. GitHub starts no workflow for a pull request that a
# workflow opens: close and reopen it to get the status "berth".
# A request by somebody without a role in the repository waits for the label "seats-allowed".
name: berth-request
on:
  issues:
    types: [opened, edited, labeled]
  issue_comment:
    types: [created, edited, deleted]
permissions:
  contents: read
defaults:
  run:
    shell: bash
jobs:
  request:
    if: >-
      !github.event.issue.pull_request && github.event.issue.state == 'open'
      && contains(github.event.issue.body, 'HEADING')
      && github.event.sender.type != 'Bot'
      && (github.event_name != 'issue_comment' || github.event.comment.user.id == github.event.issue.user.id)
      && (github.event.action != 'labeled' || github.event.label.name == 'seats-allowed')
      && (contains(fromJSON('["OWNER", "MEMBER", "COLLABORATOR"]'), github.event.issue.author_association)
      || contains(github.event.issue.labels.*.name, 'seats-allowed'))
    # One run for each issue, and one that waits. It is of the job: an event that `if` skips cancels none.
    concurrency: berth-request-${{ github.event.issue.number }}
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: write  # to push the branch of the request
      issues: write  # to answer
      pull-requests: write
    env:
      BOT: github-actions[bot]
      DEFAULT: ${{ github.event.repository.default_branch }}
      MOST_COMMENTS: 100  # of an issue
      MOST_OPEN: 50  # requests at once
      NUMBER: ${{ github.event.issue.number }}
      REPOSITORY: ${{ github.repository }}
    steps:
      - uses: actions/checkout
        with:
          fetch-depth: 0
          ref: ${{ github.event.repository.default_branch }}
          persist-credentials: false  # Berth reads what strangers wrote, and needs no token
      INSTALL
      - name: Request
        env:
          GH_TOKEN: ${{ github.token }}
        run: |
          folder=$RUNNER_TEMP/request
          branch=berth-request-$NUMBER
          mkdir -p "$folder"
          gh api "repos/$REPOSITORY/issues/$NUMBER" >"$folder/issue.json"
          jq -j '.body // ""' "$folder/issue.json" >"$folder/issue.md"
          pulls="repos/$REPOSITORY/pulls?per_page=100"
          gh api --paginate "$pulls&state=all&head=${REPOSITORY%%/*}:$branch" >"$folder/this.json"
          gh api --paginate "$pulls&state=open" >"$folder/open.json"
          query=(jq -s -r --arg repository "$REPOSITORY" --arg branch "$branch")
          own='add // [] | map(select(.head.repo.full_name == $repository))'  # none of a fork
          this="$own | map(select(.head.ref == \\$branch))"
          requests="$own | map(select(.head.ref | startswith(\\"berth-request-\\")))"
          "${query[@]}" "$this | map(select(.state == \\"open\\"))[0].number // empty" "$folder/this.json" \\
            >"$folder/number"
          closed=$("${query[@]}" "$this | length" "$folder/this.json")
          open=$("${query[@]}" "$requests | length" "$folder/open.json")
          stop=
          if [ -s "$folder/number" ]; then
            :
          elif [ "$closed" -gt 0 ]; then
            stop="The pull request of this request is closed. Please open a new issue for a new request."
          elif [ "$open" -ge "$MOST_OPEN" ]; then
            stop="There are $open open requests. Please edit this issue when some of them are merged."
          fi
          if [ "$(jq .comments "$folder/issue.json")" -gt "$MOST_COMMENTS" ]; then
            stop="This issue has more than $MOST_COMMENTS comments. Please open a new one for a new request."
          fi
          if [ -n "$stop" ]; then
            printf '%s\\n' "MARK" "$stop" >"$RUNNER_TEMP/answer.md"
            exit 0
          fi
          gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments?per_page=100" >"$folder/comments.json"
          author=$(jq .user.id "$folder/issue.json")
          count=0
          while IFS= read -r comment; do
            count=$((count + 1))
            jq -j . <<<"$comment" >"$folder/comment-$(printf %03d "$count").md"
          done < <(jq -c --argjson author "$author" '.[] | select(.user.id == $author) | .body // ""' \\
            "$folder/comments.json")
      - name: Reservation
        run: |
          if [ -e "$RUNNER_TEMP/answer.md" ]; then exit 0; fi
          request=()
          for file in "$RUNNER_TEMP/request/issue.md" "$RUNNER_TEMP"/request/comment-*.md; do
            if [ -e "$file" ]; then request+=(--from-request "$file"); fi
          done
          code=0
          berth new "${request[@]}" --write -o markdown >"$RUNNER_TEMP/answer.md" || code=$?
          if [ "$code" -eq 1 ]; then exit 0; fi  # the answer says what is wrong
          if [ "$code" -ne 0 ]; then exit "$code"; fi
          RENDERED
          IDENTITY commit --quiet -m "Reserve seats for request #$NUMBER"
      - name: Pull request
        env:
          GH_TOKEN: ${{ github.token }}
        run: |
          number=$(cat "$RUNNER_TEMP/request/number")
          if [ "$(git rev-parse HEAD)" = "$(git rev-parse "origin/$DEFAULT")" ]; then
            if [ -n "$number" ]; then
              echo "Pull request #$number stays as it was." >>"$RUNNER_TEMP/answer.md"
            fi
            exit 0
          fi
          PUSH
          branch=refs/heads/berth-request-$NUMBER
          old=$(git ls-remote origin "$branch" | cut -f1)
          if [ -n "$old" ]; then
            git fetch --quiet origin "$branch"
            authors=$(git log --format=%ae HEAD..FETCH_HEAD)
            if grep -qvxF "41898282+github-actions[bot]@users.noreply.github.com" <<<"$authors"; then
              printf '%s\\n' "MARK" "People have changed pull request #$number. Please ask them there." \\
                >"$RUNNER_TEMP/answer.md"
              exit 0
            fi
          fi
          if [ -z "$old" ] || ! git diff --quiet HEAD FETCH_HEAD; then
            git push --quiet --force-with-lease="$branch:$old" origin "HEAD:$branch"
          fi
          { echo "Closes #$NUMBER."; echo; cat "$RUNNER_TEMP/answer.md"; } >"$RUNNER_TEMP/body.md"
          pulls="repos/$REPOSITORY/pulls"
          if [ -n "$number" ]; then
            gh api --silent --method PATCH "$pulls/$number" -F "body=@$RUNNER_TEMP/body.md"
          else
            number=$(gh api --method POST "$pulls" -f "title=Reserve seats for request #$NUMBER" \\
              -f "head=berth-request-$NUMBER" -f "base=$DEFAULT" -F "body=@$RUNNER_TEMP/body.md" --jq .number)
          fi
          echo "Pull request #$number has these seats. They are reserved when it is merged." \\
            >>"$RUNNER_TEMP/answer.md"
      - name: Answer
        # The new one comes before the old ones go. One that says the same as before stays.
        if: ${{ !cancelled() }}
        env:
          GH_TOKEN: ${{ github.token }}
          STATE: ${{ job.status }}
        run: |
          answer=$RUNNER_TEMP/answer.md
          if [ "$STATE" != success ] || [ ! -s "$answer" ]; then
            sorry="Something went wrong here. The platform team finds the reason in the log of the workflow."
            printf '%s\\n' "MARK" "$sorry" >"$answer"
          fi
          comments="repos/$REPOSITORY/issues/$NUMBER/comments"
          gh api --paginate "$comments?per_page=100" >"$RUNNER_TEMP/comments.json"
          mine='.user.login == $bot and (.body | startswith("MARK"))'
          jq -s --arg bot "$BOT" "add // [] | map(select($mine))" "$RUNNER_TEMP/comments.json" \\
            >"$RUNNER_TEMP/mine.json"
          same='[.[] | .body | gsub("\\r"; "") | rtrimstr("\\n")] == [$answer | rtrimstr("\\n")]'
          if jq -e --rawfile answer "$answer" "$same" "$RUNNER_TEMP/mine.json" >/dev/null; then exit 0; fi
          gh api --silent --method POST "$comments" -F "body=@$answer"
          for id in $(jq '.[].id' "$RUNNER_TEMP/mine.json"); do
            gh api --silent --method DELETE "repos/$REPOSITORY/issues/comments/$id"
          done
"""


def request_workflow() -> str:
    """Return the workflow, with the words that `workflow` replaces."""
    text = _TEXT
    for word, meant in _WORDS.items():
        text = text.replace(word, meant)
    return text
