"""Bash as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = r"""#!/usr/bin/env bash
# Puts a release where people find it.

# shellcheck disable=SC2155
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/lib/log.sh"
. ./common.sh

readonly TARGET="${1:-dist}"
export PATH="$HOME/bin:$PATH" MODE
declare -A sizes=([small]=1 [large]=2)
files=(a.txt "b c.txt"
  d*.txt)

# Says what went wrong, and ends.
# $1: the message
die() {
  local message=$1 code="${2:-1}" # as given
  echo "error: ${message} in $(current_folder)" >&2
  exit "$code"
}

function current_folder { pwd -P; }

_in_folder() (
  cd "$1" && shift
  "$@"
) 2>/dev/null

build() {
  local name
  inner() { echo "inner $1" | tr a-z A-Z; }
  for name in "${files[@]}" extra; do
    if [ -f "$name" ] && [[ $name == *."txt" ]]; then
      copy "$name" "$TARGET/"
    elif (( ${#files[@]} > 2 )) || ! test -d "$TARGET"; then
      return 1
    else
      die "no file: $name"
    fi
  done
  while read -r line || [[ -n $line ]]; do
    sizes["$line"]=$((${#line} + 1))
  done < <(list "$TARGET")
  for ((i = 0; i < 3; i++)); do inner "$i"; done
  until ready; do sleep 1 & wait; done
}

# Writes the page.
page() {
  cat <<EOF >"$TARGET/index.html"
<h1>$(title "$1")</h1>
  <p>${2:-nothing}</p>

EOF
  cat <<-'END'
	kept	as $written
	END
}

usage() { echo "usage: $0 COMMAND"; }

main() {
  trap 'cleanup; exit 1' EXIT INT
  case "$1" in
    -h|--help) usage ;;
    build | b)
      build "$@" && page x |
        sort -u ||
        die failed 2
      ;;
    (v*) [[ $1 =~ ^v[0-9]+(\.[0-9]+)*$ ]] && echo "$1" ;;
    *) usage; return 2 ;;
  esac
  { echo a; echo b; } >> "$TARGET/log" 2>&1
  x=1 y+=2 run --flag="$x"y 'single  quoted' $'a\tb' {1..3} <<<"$x"
}

main "$@"
"""

CONDITIONS = """\
decide() {
    if [ -z "$1" ]; then
        missing
    elif [[ $size -gt 9 ]]; then
        too_large
    else
        fits
    fi
    if ! have git >/dev/null 2>&1; then
        install_git
    fi
    always
    [ -d "$2" ] || make_folder
    fetch "$2" && unpack
    case "$1" in
        read | write) use_it ;;
        *) refuse ;;
    esac
}
"""

OPENING = """\
apart() {
    # Walk all of it once,
    # in order.

    begin
    stop
}

whole() {
    # Walk all of it once, in order.
    begin
}

first() {
    # Walk all of it once, in order.
    begin
    stop
}

task() {
    # TODO: walk all of it once, in order.

    begin
    stop
}

code() {
    # walk(all, once);

    begin
    stop
}
"""

CASE = LanguageCase(
    language="bash",
    path="bin/release.sh",
    source=SOURCE,
    reformatted=SOURCE.replace("\n  local", "\n    local")
    .replace("function current_folder { pwd -P; }", "function current_folder {\n  pwd -P\n}")
    .replace("; then\n", "\n    then\n")
    .replace('do inner "$i"; done', 'do\n    inner "$i"\n  done')
    .replace("*) usage; return 2 ;;", "*)\n      usage\n      return 2\n      ;;")
    .replace("-h|--help) usage ;;", "-h | --help)\n      usage\n      ;;")
    .replace(" |\n        sort -u ||\n        ", " \\\n | sort -u \\\n        || ")
    .replace('"b c.txt"\n  d*.txt', '"b c.txt" d*.txt')
    .replace("2>/dev/null", "2> /dev/null")
    .replace("\n\nmain()", "\n\n\n\nmain()"),
    commented=SOURCE.replace(" # as given", "").replace("  local name\n", "  # of each file\n  local name # one\n"),
    edit=("pwd -P", "pwd -L"),
    edited=frozenset({"current_folder"}),
    rename=("_in_folder()", "_within()"),
    renamed={"_in_folder": "_within"},
    is_braced=False,
    conditions=CONDITIONS,
    when={
        "missing": '"$1" is empty',
        "too_large": "$size > 9",
        "fits": 'neither "$1" is empty nor $size > 9',
        "have": "",
        "install_git": "have git fails",
        "always": "",
        "make_folder": 'not ("$2" is a directory)',
        "fetch": "",
        "unpack": 'fetch "$2" succeeds',
        "use_it": '"$1" is read or write',
        "refuse": '"$1" is anything else',
    },
    opening=OPENING,
)
