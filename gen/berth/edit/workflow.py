"""The GitHub workflows that `berth init` writes.

They need nothing but GitHub's own actions and a shell.
"""

import shlex

PREVIEW = ".github/workflows/berth.yaml"
CALENDAR = ".github/workflows/berth-calendar.yaml"
REPORT = ".github/workflows/berth-report.yaml"
# What more than one of them does stands in them as a word.
_INSTALL = """\
- uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - name: Install Berth
        run: python -m pip install --quiet --disable-pip-version-check REQUIREMENT"""
_COMMIT = """\
git -c user.name="github-actions[bot]" \\
            -c user.email="41898282+github-actions[bot]@users.noreply.github.com" \\
            commit --quiet"""
_PREVIEW_TEXT = """\
# Checks the reservations, renders them, and keeps one comment on each pull request that shows what changes.
# Require the status "berth": it is on the last commit of the branch, also if this workflow pushed it.
name: berth
on:
  pull_request:
  merge_group:
  push:
    branches: [main]
permissions:
  contents: write  # to commit rendered/ to branches of this repository
  pull-requests: write  # to comment
  statuses: write
concurrency:
  group: berth-${{ github.event.pull_request.number || github.sha }}
  cancel-in-progress: true
defaults:
  run:
    shell: bash
env:
  GH_TOKEN: ${{ github.token }}
  REPOSITORY: ${{ github.repository }}
  BASE: ${{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before }}
  BRANCH: ${{ github.head_ref }}
  NUMBER: ${{ github.event.pull_request.number }}
jobs:
  preview:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    env:
      # A pull request from a fork gets a token that may not write.
      FORK: >-
        ${{ github.event_name == 'pull_request'
        && github.event.pull_request.head.repo.full_name != github.repository }}
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          ref: ${{ github.event.pull_request.head.sha || github.sha }}
      INSTALL
      - name: Validate
        # The time of the commit is the current time: what is checked is the same in every run.
        run: berth validate -o github --now "$(git log -1 --format=%cI)"
      - name: Render
        run: |
          fix="berth render && git add rendered && git commit -m Render && git push"
          if berth render --check; then exit 0; fi
          if [ -z "$BRANCH" ] || [ "$FORK" = true ]; then
            echo "::error title=rendered/ is not up to date::Run: $fix"
            exit 1
          fi
          berth render
          git add rendered
          COMMIT -m Render
          if ! git push --quiet origin "HEAD:refs/heads/$BRANCH"; then
            git reset --quiet --hard HEAD~1
            echo "::error title=rendered/ is not up to date::The push was refused. Run: $fix"
            exit 1
          fi
      - name: Preview
        if: ${{ !cancelled() }}
        run: |
          base=$(git merge-base "$BASE" HEAD 2>/dev/null) || base=$(git rev-parse HEAD)
          preview=$RUNNER_TEMP/preview.md
          code=0
          echo "<!-- berth -->" >"$preview"
          berth diff "$base" -o markdown --now "$(git log -1 --format=%cI)" >>"$preview" || code=$?
          if [ "$(wc -l <"$preview")" -eq 1 ]; then
            echo "Berth could not create the preview; see the log." >>"$preview"
          fi
          cat "$preview" >>"$GITHUB_STEP_SUMMARY"
          exit "$code"
      - name: Comment
        if: ${{ !cancelled() && env.NUMBER && env.FORK == 'false' }}
        run: |
          comments="repos/$REPOSITORY/issues/$NUMBER/comments"
          mine='select(.user.login == "github-actions[bot]" and (.body | startswith("<!-- berth -->")))'
          id=$(gh api --paginate "$comments" --jq ".[] | $mine | .id" | sed -n 1p)
          if [ -n "$id" ]; then
            call=(PATCH "repos/$REPOSITORY/issues/comments/$id")
          else
            call=(POST "$comments")
          fi
          gh api --silent --method "${call[@]}" -F "body=@$RUNNER_TEMP/preview.md"
      - name: Status
        if: ${{ always() && env.FORK == 'false' }}
        env:
          STATE: ${{ job.status == 'success' && 'success' || 'failure' }}
        run: |
          gh api --silent --method POST "repos/$REPOSITORY/statuses/$(git rev-parse HEAD)" \\
            -f context=berth -f "state=$STATE"
"""
_CALENDAR_TEXT = """\
# Publishes the calendar page and its feeds, if the settings of the repository have GitHub Pages with the
# source "GitHub Actions". Who can open the site sees all titles, dates, seats and owners.
name: berth-calendar
on:
  push:
    branches: [main]
  workflow_dispatch:
permissions:
  contents: read
concurrency: berth-calendar
jobs:
  build:
    if: github.event.repository.has_pages
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v4
      INSTALL
      - name: Calendar
        run: berth calendar --output-dir site
      - uses: actions/upload-pages-artifact@v3
        with:
          path: site
  publish:
    needs: build
    runs-on: ubuntu-latest
    timeout-minutes: 10
    environment: github-pages
    permissions:
      pages: write
      id-token: write
    steps:
      - uses: actions/deploy-pages@v4
"""
_REPORT_TEXT = """\
# Each Monday: a report of past windows, and a pull request with the seats and leads that they propose.
# The secret KUBECONFIG is a kubeconfig that may list ConfigMaps in the namespace of Berth.
# Allow pull requests in Settings > Actions > General. GitHub starts no workflow for a pull request that
# a workflow opens: close and reopen it to get the status "berth".
name: berth-report
on:
  schedule:
    - cron: "17 5 * * 1"
  workflow_dispatch:
permissions:
  contents: write  # to push the branch berth-report
  pull-requests: write
concurrency: berth-report
defaults:
  run:
    shell: bash
jobs:
  report:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      INSTALL
      - name: Report
        env:
          CONTENT: ${{ secrets.KUBECONFIG }}
        run: |
          umask 077
          echo "$CONTENT" >"$RUNNER_TEMP/kubeconfig"
          kubectl --kubeconfig "$RUNNER_TEMP/kubeconfig" get configmaps --namespace berth \\
            --selector berth.dev/role=record --output json >"$RUNNER_TEMP/records.json"
          berth report --records "$RUNNER_TEMP/records.json" --write -o markdown >"$RUNNER_TEMP/report.md"
          cat "$RUNNER_TEMP/report.md" >>"$GITHUB_STEP_SUMMARY"
      - name: Pull request
        env:
          GH_TOKEN: ${{ github.token }}
        run: |
          if git diff --quiet -- reservations; then
            echo "Nothing is proposed."
            exit 0
          fi
          berth render
          git add reservations rendered
          COMMIT -m "Reserve what past windows needed"
          git push --quiet --force origin HEAD:refs/heads/berth-report
          head -c 60000 "$RUNNER_TEMP/report.md" >"$RUNNER_TEMP/body.md"
          body=(--body-file "$RUNNER_TEMP/body.md")
          if [ -n "$(gh pr list --head berth-report --json number --jq '.[].number')" ]; then
            gh pr edit berth-report "${body[@]}"
          else
            gh pr create --head berth-report --title "Reserve what past windows needed" "${body[@]}"
          fi
"""
_TEXTS = {PREVIEW: _PREVIEW_TEXT, CALENDAR: _CALENDAR_TEXT, REPORT: _REPORT_TEXT}


def workflow(path: str, requirement: str) -> str:
    """Return the workflow of this path, which lets pip install Berth from this requirement."""
    words = {"INSTALL": _INSTALL, "COMMIT": _COMMIT, "REQUIREMENT": shlex.quote(requirement)}
    text = _TEXTS[path]
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text
