"""The GitHub workflows that `berth init` writes.

They need nothing but GitHub's own actions, each by its commit, and a shell. What pip installs is pinned by
hash, but for Berth itself, which comes from where this installation came from.
"""

import re
import shlex
from importlib import resources
from typing import NamedTuple

from berth.edit.requestworkflow import request_workflow

PREVIEW = ".github/workflows/berth.yaml"
CALENDAR = ".github/workflows/berth-calendar.yaml"
REPORT = ".github/workflows/berth-report.yaml"
REQUESTS = ".github/workflows/berth-request.yaml"
REQUIREMENTS = ".github/berth-requirements.txt"
ACTIONS = {
    "actions/checkout": ("34e114876b0b11c390a56381ad16ebd13914f8d5", "v4.3.1"),
    "actions/setup-python": ("a26af69be951a213d495a4c3e4e4022e16d87065", "v5.6.0"),
    "actions/upload-pages-artifact": ("56afc609e74202658d3ffba0e8f6dda462b719fa", "v3.0.1"),
    "actions/deploy-pages": ("d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e", "v4.0.5"),
}
"""The commit and the release of each action: a tag may be moved to other code."""
# What more than one of them does stands in them as a word.
_INSTALL = f"""\
- uses: actions/setup-python
        with:
          python-version: "3.13"
      - name: Install Berth
        run: |
          install=(python -P -m pip install --quiet --disable-pip-version-check)
          "${{install[@]}}" --require-hashes -r {REQUIREMENTS}
          "${{install[@]}}" --no-deps --no-build-isolation REQUIREMENT"""
_IDENTITY = """\
git -c user.name="github-actions[bot]" \\
            -c user.email="41898282+github-actions[bot]@users.noreply.github.com"\
"""
_RENDERED = """\
berth render
          git add reservations
          git add --force rendered\
"""
_PUSH = """\
basic=$(printf 'x-access-token:%s' "$GH_TOKEN" | base64 --wrap=0)
          export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
          export GIT_CONFIG_VALUE_0="Authorization: Basic $basic"\
"""
_PREVIEW_TEXT = """\
# Checks the reservations, renders them, and keeps one comment on each pull request that shows what changes.
# Require the status "berth": it is on the last commit of the branch, also if this workflow pushed it. A pull
# request to another branch than the default branch gets the status "berth (BRANCH)".
name: berth
on:
  pull_request:
  merge_group:
  push:
    branches: [main]
permissions:
  contents: read
concurrency:
  group: berth-${{ github.event.pull_request.number || github.sha }}
  cancel-in-progress: true
defaults:
  run:
    shell: bash
jobs:
  preview:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: write  # to push rendered/ to branches of this repository
      pull-requests: write  # to comment
      statuses: write
    env:
      REPOSITORY: ${{ github.repository }}
      # The base branch as it is now, not as it was when the branch began: its policies count.
      BASE: >-
        ${{ github.base_ref && format('origin/{0}', github.base_ref)
        || github.event.merge_group.base_sha || github.event.before }}
      BRANCH: ${{ github.head_ref }}
      HEAD: ${{ github.event.pull_request.head.sha || github.sha }}
      NUMBER: ${{ github.event.pull_request.number }}
      # A pull request from a fork gets a token that may not write.
      FORK: >-
        ${{ github.event_name == 'pull_request'
        && github.event.pull_request.head.repo.full_name != github.repository }}
    steps:
      - uses: actions/checkout
        with:
          fetch-depth: 0
          ref: ${{ github.event.pull_request.head.sha || github.sha }}
          persist-credentials: false  # Berth reads what authors wrote, and needs no token
      INSTALL
      - name: Render
        run: |
          fix="berth render && git add --force rendered && git commit -m Render && git push"
          code=0
          berth render --check || code=$?
          if [ "$code" -ne 4 ]; then exit "$code"; fi
          if [ -z "$BRANCH" ] || [ "$FORK" = true ]; then
            echo "::error title=rendered/ is not up to date::Run: $fix"
            exit 1
          fi
          berth render
          git add --force rendered  # also what the author lets git ignore
          IDENTITY commit --quiet -m Render
      - name: Push
        if: ${{ env.BRANCH && env.FORK == 'false' }}
        env:
          GH_TOKEN: ${{ github.token }}
        run: |
          if [ "$(git rev-parse HEAD)" = "$HEAD" ]; then exit 0; fi
          PUSH
          if ! git push --quiet origin "HEAD:refs/heads/$BRANCH"; then
            git reset --quiet --hard "$HEAD"
            echo "::error title=rendered/ is not up to date::The push was refused. Update the branch."
            exit 1
          fi
      - name: Preview
        # What the base branch becomes, by the clock of this run: authors choose the time of a commit.
        if: ${{ !cancelled() }}
        run: |
          now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
          preview=$RUNNER_TEMP/preview.md
          merged=$RUNNER_TEMP/merged
          good=true
          if [[ "$BASE" =~ ^0*$ ]]; then BASE=$(git rev-parse HEAD); fi  # the first push of a branch
          # Judge what git stores, too: by the attributes of a branch, git may check out something else.
          mkdir -p .git/info
          echo "* -text !ident !filter !working-tree-encoding" >>.git/info/attributes
          git worktree add --quiet --detach "$merged" HEAD
          if [ -n "$NUMBER" ]; then
            merge=(-c user.name=berth -c user.email=berth@localhost merge --quiet --no-edit)
            if ! git -C "$merged" "${merge[@]}" "$BASE"; then
              git -C "$merged" merge --abort || true
              echo "::error title=This branch cannot be merged::Merge its base branch into it."
              good=false
            fi
          fi
          rm .git/info/attributes
          # Where the work tree is not up to date, a step before has failed and said so.
          if berth render --check >/dev/null 2>&1 && ! berth -C "$merged" render --check; then
            echo "::error title=rendered/ is not up to date after the merge::Update this branch."
            good=false
          fi
          cd "$merged"  # findings are at the files of the repository
          berth validate -o github --now "$now" || good=false
          echo "<!-- berth -->" >"$preview"
          berth diff "$BASE" -o markdown --now "$now" >>"$preview" || good=false
          if [ "$(wc -l <"$preview")" -eq 1 ]; then
            echo "Berth could not create the preview; see the log." >>"$preview"
            good=false
          fi
          cat "$preview" >>"$GITHUB_STEP_SUMMARY"
          test "$good" = true
      - name: Comment
        if: ${{ !cancelled() && env.NUMBER && env.FORK == 'false' }}
        env:
          GH_TOKEN: ${{ github.token }}
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
          BASE_REF: ${{ github.base_ref || github.event.merge_group.base_ref || github.ref }}
          DEFAULT: ${{ github.event.repository.default_branch }}
          GH_TOKEN: ${{ github.token }}
          STATE: ${{ job.status == 'success' && 'success' || 'failure' }}
        run: |
          branch=${BASE_REF#refs/heads/}
          context=berth
          if [ "$branch" != "$DEFAULT" ]; then context="berth ($branch)"; fi
          headline=$(sed -n '/^### Berth: /{s///p;q}' "$RUNNER_TEMP/preview.md" | tr -d '\\\\') || true
          gh api --silent --method POST "repos/$REPOSITORY/statuses/$(git rev-parse HEAD)" \\
            -f "context=$context" -f "state=$STATE" ${headline:+-f "description=${headline:0:140}"}
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
      - uses: actions/checkout
        with:
          persist-credentials: false
      INSTALL
      - name: Calendar
        run: berth calendar --output-dir site
      - uses: actions/upload-pages-artifact
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
      - uses: actions/deploy-pages
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
  contents: read
concurrency: berth-report
defaults:
  run:
    shell: bash
jobs:
  report:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    permissions:
      contents: write  # to push the branch berth-report
      pull-requests: write
    steps:
      - uses: actions/checkout
        with:
          persist-credentials: false
      INSTALL
      - name: Records
        env:
          CONTENT: ${{ secrets.KUBECONFIG }}
        run: |
          umask 077
          echo "$CONTENT" >"$RUNNER_TEMP/kubeconfig"
          kubectl --kubeconfig "$RUNNER_TEMP/kubeconfig" get configmaps --namespace berth \\
            --selector berth.dev/role=record --output json >"$RUNNER_TEMP/records.json"
          rm "$RUNNER_TEMP/kubeconfig"
      - name: Report
        run: |
          berth report --records "$RUNNER_TEMP/records.json" --write -o markdown >"$RUNNER_TEMP/report.md"
          cat "$RUNNER_TEMP/report.md" >>"$GITHUB_STEP_SUMMARY"
      - name: Render
        run: |
          if git diff --quiet -- reservations; then
            echo "Nothing is proposed."
            exit 0
          fi
          RENDERED
          IDENTITY commit --quiet -m "Reserve what past windows needed"
      - name: Pull request
        env:
          GH_TOKEN: ${{ github.token }}
        run: |
          if [ "$(git rev-parse HEAD)" = "$GITHUB_SHA" ]; then exit 0; fi
          PUSH
          git push --quiet --force origin HEAD:refs/heads/berth-report
          head -c 60000 "$RUNNER_TEMP/report.md" >"$RUNNER_TEMP/body.md"
          body=(--body-file "$RUNNER_TEMP/body.md")
          if [ -n "$(gh pr list --head berth-report --json number --jq '.[].number')" ]; then
            gh pr edit berth-report "${body[@]}"
          else
            gh pr create --head berth-report --title "Reserve what past windows needed" "${body[@]}"
          fi
"""
_TEXTS = {
    PREVIEW: _PREVIEW_TEXT,
    CALENDAR: _CALENDAR_TEXT,
    REPORT: _REPORT_TEXT,
    REQUESTS: request_workflow(),
}


class OptionalWorkflow(NamedTuple):
    """A workflow that `berth init` adds if its option is given, and what the option says."""

    path: str
    help: str


OPTIONAL = {
    "calendar": OptionalWorkflow(CALENDAR, "Add a workflow that publishes a calendar page."),
    "report": OptionalWorkflow(REPORT, "Add a weekly workflow that proposes seats and leads."),
    "requests": OptionalWorkflow(
        REQUESTS, "Add an issue form, and a workflow that turns it into pull requests."
    ),
}
"""By the name of the option."""
_action = re.compile(r"(?<=- uses: )[\w/-]+$", re.MULTILINE)


def workflow(path: str, requirement: str) -> str:
    """Return the workflow of this path, which lets pip install Berth from this requirement."""
    words = {
        "INSTALL": _INSTALL,
        "IDENTITY": _IDENTITY,
        "PUSH": _PUSH,
        "RENDERED": _RENDERED,
        "REQUIREMENT": shlex.quote(requirement),
    }
    text = _TEXTS[path]
    for word, meant in words.items():
        text = text.replace(word, meant)
    return _action.sub(lambda match: pinned(match[0]), text)


def pinned(action: str) -> str:
    """Return an action with its commit, and its release as a comment."""
    commit, release = ACTIONS[action]
    return f"{action}@{commit} # {release}"


def requirements() -> str:
    """Return what pip installs for Berth, each by hash: the file REQUIREMENTS."""
    return resources.files("berth.edit").joinpath("requirements.txt").read_text("utf-8")
