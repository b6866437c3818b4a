#!/bin/sh
# Installs hookgate for this user: fetches the release of this platform, checks its sha256, and replaces the former installation.
#
#   HOOKGATE_URL      the address of the release files; default: the one that they were made for
#   HOOKGATE_PREFIX   where to install; default: ~/.local
#   HOOKGATE_NODE     the program `node`
set -eu

url=${HOOKGATE_URL:-@URL@}
prefix=${HOOKGATE_PREFIX:-$HOME/.local}
node=${HOOKGATE_NODE:-node}

fail() {
  echo "hookgate: $1" >&2
  exit 1
}

[ -n "$url" ] || fail 'set HOOKGATE_URL to the address of the release files, such as https://gateway.example/dl'
url=${url%/}
command -v "$node" >/dev/null 2>&1 || fail "Node 20.19 or newer is needed, and there is no \`$node\` on PATH. Install it from https://nodejs.org"
"$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail "Node 20.19 or newer is needed; this is $("$node" --version)"

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail 'neither curl nor wget is installed'
  fi || fail "$1 could not be fetched"
}

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM

fetch "$url/latest.json" "$temporary/latest.json"
# Prints version, name and sha256 of the file for this platform.
chosen=$("$node" -e '
  const { version, files } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
  const musl = process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined
  const os = musl ? "linux-musl" : process.platform
  const file = files.find((one) => one.os === os && one.arch === process.arch)
  const plain = (text) => /^[\w.+-]+$/.test(text)
  if (file !== undefined && plain(version) && plain(file.name) && /^[0-9a-f]{64}$/.test(file.sha256))
    console.log(version, file.name, file.sha256)
' "$temporary/latest.json") || fail "$url/latest.json cannot be read"
[ -n "$chosen" ] || fail "there is no release for this platform. Install the package with npm: npm install -g $url/<name of the .tgz in latest.json>"
# shellcheck disable=SC2086
set -- $chosen
version=$1 name=$2 expected=$3

fetch "$url/$name" "$temporary/$name"
actual=$("$node" -e '
  const { createHash } = require("node:crypto")
  console.log(createHash("sha256").update(require("node:fs").readFileSync(process.argv[1])).digest("hex"))
' "$temporary/$name")
[ "$actual" = "$expected" ] || fail "$name has the sha256 $actual instead of $expected. Nothing was installed"

target=$prefix/lib/hookgate-$version
mkdir -p "$prefix/lib" "$prefix/bin"
rm -rf "$target.new"
mkdir "$target.new"
tar -xzf "$temporary/$name" -C "$target.new" || fail "$name cannot be unpacked"
rm -rf "$target"
mv "$target.new" "$target"
printf '#!/bin/sh\nexec "%s/bin/hookgate" "$@"\n' "$target" >"$temporary/hookgate"
chmod 755 "$temporary/hookgate"
mv "$temporary/hookgate" "$prefix/bin/hookgate"

echo "hookgate $version is installed: $prefix/bin/hookgate"
case ":$PATH:" in
  *":$prefix/bin:"*) ;;
  *) echo "Add $prefix/bin to PATH." ;;
esac
