#!/bin/sh
# Opens a report's page in a headless Chromium, from file://, and lets it check itself
# (page/selftest.js).
#
#   timeline_browser.sh <index.html>
#
# Exit code 0: passed; 1: failed; 77: there is no Chromium (skipped).
page=$1
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v $name) && break
done
if [ -z "$browser" ]; then
  echo "skipped: no Chromium (Debian: apt-get install chromium)"
  exit 77
fi
profile=$(mktemp -d) || exit 1
trap 'rm -rf "$profile"' EXIT
# Root (in a container) may run it only without its sandbox; the page is our own and has no network.
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --no-first-run \
  --user-data-dir="$profile" --window-size=1366,768 --enable-logging=stderr \
  --dump-dom "file://$page#selftest" \
  >"$profile/dom" 2>"$profile/log"
sed -n '/<pre id="selftest">/,/<\/pre>/p' "$profile/dom" | sed 's/<[^>]*>//g'
if ! grep -q 'selftest: passed' "$profile/dom"; then
  echo "the page's self-test did not pass"
  cat "$profile/log"
  exit 1
fi
# On the console there is nothing but Chromium's advice about reading pixels, which only the
# self-test does.
if grep CONSOLE "$profile/log" | grep -v 'willReadFrequently'; then
  echo "the page writes to the console"
  exit 1
fi
